model M /* open
 Real x;