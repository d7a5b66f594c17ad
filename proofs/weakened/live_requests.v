(* N_j with ⌈L/T⌉ for ⌈(L + D)/T⌉: what is carried in. *)
(* weaken Neighbours.v s|suml (fun r => cdiv (L + r_D r) (r_T r) \*|suml (fun r => cdiv L (r_T r) *| *)
(* fails Neighbours.v transfers_live *)
(* beside the theory as it is: the weakened N_j is written out here *)
From Coq Require Import ZArith List Lia.
From Rtflash Require Import Sums Demand Trace Closing Examples Neighbours.
Open Scope Z_scope.

Definition weak_N_j (P : processor) (L : Z) : Z :=
  suml (fun r => cdiv L (r_T r) * (r_C r / r_q r)) (p_rs P).
(* Between 1 and 11 three steps of the example of a stripe are under way. *)
Example broken :
  in_time_up_to stripe_trace 10 /\ weak_N_j stripe_processor 10 < live_steps stripe_trace 1 11.
Proof.
  split; [|reflexivity]. intros m Hm Hr Hd.
  apply (proj1 stripe_promises m Hm Hr). change (x_end stripe_trace) with 60. lia.
Qed.
