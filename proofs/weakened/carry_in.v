(* ⌈L/T⌉ for ⌈L/T⌉ + 1: one job less in an open interval of length L + T. *)
(* weaken Sporadic.v s|countn p n <= cdiv (hi - lo) T\.|countn p n <= cdiv (hi - lo) T - 1.| *)
(* fails Sporadic.v arrivals_in_half_open *)
(* beside the theory as it is *)
From Coq Require Import ZArith Lia.
From Rtflash Require Import Sums Sporadic.
Open Scope Z_scope.

(* L = 8, T = 7: three arrivals 7 apart in the open interval (-1, 15), two in ⌈8/7⌉. *)
Example broken :
  apart 3 (fun _ => true) (fun m => 7 * Z.of_nat m) 7 /\
  (forall m, (m < 3)%nat -> -1 < 7 * Z.of_nat m < 15) /\
  countn (fun _ => true) 3 = 3 /\ cdiv 8 7 = 2 /\ cdiv (8 + 7) 7 = cdiv 8 7 + 1.
Proof.
  split; [|split; [intros; lia|repeat split; reflexivity]].
  unfold apart. intros m k Hm Hk _ _ Hne. destruct (Nat.lt_ge_cases m k); [left|right]; lia.
Qed.
