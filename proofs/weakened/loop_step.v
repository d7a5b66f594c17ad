(* The code's loop with a nanosecond more in each step. *)
(* weaken Qpa.v s|let next := Z.max 0 (h t - 1) in|let next := Z.max 0 (h t - 2) in| *)
(* fails Qpa.v code_round *)
(* beside the theory as it is: the weakened loop is written out here *)
From Coq Require Import ZArith.
From Rtflash Require Import Qpa.
Open Scope Z_scope.

Definition weak_body (h : Z -> Z) (d t : Z) : Z + option Z :=
  if t <? h t then inr (Some t)
  else let next := Z.max 0 (h t - 2) in if next <? d then inr None else inl next.
(* It accepts [5, 10], where 5 needs 6. *)
Example broken : outcome_of (rounds (weak_body (fun _ => 6) 5) 100 10) = Holds /\ 5 < (fun _ : Z => 6) 5.
Proof. split; reflexivity. Qed.
