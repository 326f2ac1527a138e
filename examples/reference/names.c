/* The names that options take. */
#include <daedal.h>
#include <stdio.h>

int main(void) {
  printf("the first method is %s, the first solver %s\n", daedal_method_names()[0], daedal_solver_names()[0]);
  printf("radua: did you mean %s?\n", daedal_nearest_name("radua", daedal_solver_names()));
  printf("there are passes to look into: %s\n", daedal_pass_names()[0] ? "yes" : "no");
  return 0;
}

/* Output:
 * the first method is dummy, the first solver auto
 * radua: did you mean radau?
 * there are passes to look into: yes
 */
