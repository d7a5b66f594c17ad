(* U <= 1 - U_s for U < 1 - U_s. *)
(* weaken Demand.v s|1000 \* l_u (load_line rs g) <? share g \* l_den (load_line rs g)|1000 * l_u (load_line rs g) <=? share g * l_den (load_line rs g)| *)
(* fails Demand.v last_length_suffices *)
(* beside the theory as it is *)
From Coq Require Import ZArith List Lia.
From Rtflash Require Import Sums Demand.
Import ListNotations.
Open Scope Z_scope.

(* U = 1. All lengths up to L_max, which is 7, fit, and 15 does not. *)
Definition rs : list request := [Request 1 3 2 0 1 0; Request 1 6 3 0 1 0; Request 4 8 7 0 1 0].
Definition g : collection := Collection 10 1 1 1 0 0.
Example broken :
  share g * l_den (load_line rs g) = 1000 * l_u (load_line rs g) /\ last_length rs g = 7 /\
  Forall (fits rs g) [2; 3; 4; 5; 6; 7] /\ ~ fits rs g 15.
Proof.
  split; [reflexivity|]. split; [reflexivity|]. split.
  - repeat constructor; unfold fits; vm_compute; discriminate.
  - unfold fits. vm_compute. intros H. apply H. reflexivity.
Qed.
