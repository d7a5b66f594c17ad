(* W4 without the increments of h: a page of (i) that waits for a chip that is counted. *)
(* weaken Ranks.v s|+ increment t_d t_r m l \* Z.min nr (N l - Z.min (N l) K)) q\.|) q.| *)
(* fails Ranks.v convex_waits *)
(* beside the theory as it is *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Ranks.
Import ListNotations.
Open Scope Z_scope.

(* t_d = 4, t_r = 1: one page of (i) waits for one transfer. It is held for 7, of which h(0) is 3; the
   other 4 are the increment. *)
Example broken :
  suml (wait_cost 4 1 0 unit (fun _ => false) (fun _ _ => true) 1) [tt] = 7 /\
  W4 4 1 0 0 1 (fun _ => 1) 1 + 1 * hold_over 4 1 0 = 7 /\
  (0 + 1) * 4 * 0 + sumn (fun l => 4 * Z.min 1 0) 1 + 1 * hold_over 4 1 0 = 3.
Proof. repeat split; reflexivity. Qed.
