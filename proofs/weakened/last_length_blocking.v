(* L_max without q_s in K. *)
(* weaken Demand.v s|(cdiv (1000 \* (l_k l + g_qs g \* l_den l))|(cdiv (1000 * l_k l)| *)
(* fails Demand.v last_length_suffices *)
(* beside the theory as it is: the weakened L_max is written out here *)
From Coq Require Import ZArith List Lia.
From Rtflash Require Import Sums Demand.
Import ListNotations.
Open Scope Z_scope.

(* One request of 1 every 10; q_s = 100. *)
Definition rs : list request := [Request 1 10 10 0 1 0].
Definition g : collection := Collection 10 1 1 1 0 100.
Definition weak_last : Z :=
  let l := load_line rs g in
  Z.max (maxl (fun x => x) (deadlines rs g)) (cdiv (1000 * l_k l) (share g * l_den l - 1000 * l_u l)).
Example broken : load_fits rs g = true /\ weak_last = 10 /\ ~ fits rs g 10.
Proof. split; [reflexivity|]. split; [reflexivity|]. unfold fits. vm_compute. intros H. apply H. reflexivity. Qed.
