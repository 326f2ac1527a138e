model M "open string
 Real x; end M;