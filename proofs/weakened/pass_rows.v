(* A row less for a pass over a superblock. *)
(* weaken Superblock.v s|u_rows u <= cdiv val s /\\|u_rows u <= cdiv val s - 1 /\\| *)
(* fails Superblock.v superblock_pass *)
(* beside the theory as it is *)
From Coq Require Import ZArith List Lia.
From Rtflash Require Import Sums Superblock.
Import ListNotations.
Open Scope Z_scope.

Example broken : exists u, pass_reaches 2 (UnderPass [3; 1] 0 0 0 0 0) u /\ cdiv 4 2 - 1 < u_rows u.
Proof.
  destruct pass_example as [u [H1 [_ [_ [H2 _]]]]]. exists u. split; [exact H1|]. rewrite H2. lia.
Qed.
