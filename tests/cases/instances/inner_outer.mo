// run: simulate --stop-time 1
// expect: part.y = 3 within 3e-05
// expect: group.part.y = 7 within 7e-05
model World
  parameter Real g = 1;
end World;
model Part
  outer World world;
  Real y = world.g;
end Part;
model Group
  inner World world(g = 7);
  Part part;
end Group;
model M
  inner World world(g = 3);
  Part part;
  Group group;
end M;
