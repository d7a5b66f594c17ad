(* A transfer waits for m_c - 2 others. *)
(* weaken Bus.v s|granted k - asked k <= (m_c - 1) \* t_d\.|granted k - asked k <= (m_c - 2) * t_d.| *)
(* fails Bus.v lemma_1 *)
(* beside the theory as it is *)
From Coq Require Import ZArith Lia.
From Rtflash Require Import Bus.
Open Scope Z_scope.

Example broken :
  bus_obeys 3 Z.of_nat (fun _ => 0) ex_granted (fun k => ex_granted k + 5) 3 5 /\
  S3_first_come 3 (fun _ => 0) /\ (3 - 2) * 5 < ex_granted 2 - 0.
Proof. destruct bus_example as [H1 [H2 H3]]. split; [exact H1|]. split; [exact H2|]. rewrite H3. lia. Qed.
