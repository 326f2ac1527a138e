model M Real x(start = 1), y; equation der(x) + der(y) + x = sin(time); der(x) + der(y) + y = time; end M;
