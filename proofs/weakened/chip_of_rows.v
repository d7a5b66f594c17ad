(* Of n consecutive pages of the frontier a chip of s has ⌊n/s⌋. *)
(* weaken Frontier.v s|pages_on lo n <= cdiv n s\.|pages_on lo n <= n / s.| *)
(* fails Frontier.v every_sth *)
(* beside the theory as it is *)
From Coq Require Import ZArith Lia.
From Rtflash Require Import Sums Device Frontier.
Open Scope Z_scope.

(* Two chips in turn; of pages 0 to 2 the first one has two. *)
Definition turn (q : Z) : chip := (Z.to_nat (q mod 2), O).
Example broken :
  (forall p q, p < q < p + 2 -> turn p <> turn q) /\ 3 / 2 < pages_on turn (O, O) 0 3.
Proof.
  split; [|reflexivity]. intros p q H E. unfold turn in E. injection E as E.
  assert (q = p + 1) by lia. subst q.
  pose proof (Z.mod_pos_bound p 2 ltac:(lia)). pose proof (Z.mod_pos_bound (p + 1) 2 ltac:(lia)).
  apply Z2Nat.inj in E; [|lia|lia].
  pose proof (Z.div_mod p 2 ltac:(lia)). pose proof (Z.div_mod (p + 1) 2 ltac:(lia)). lia.
Qed.
