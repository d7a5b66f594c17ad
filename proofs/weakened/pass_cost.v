(* C_g less a nanosecond. *)
(* weaken Trace.v s|<= g_C (p_g P);|<= g_C (p_g P) + 1;| *)
(* fails Costs.v pass_within_cost *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace Check.
Import ListNotations.
Open Scope Z_scope.

Ltac each H :=
  simpl in H; repeat (destruct H as [<-|H]; [unfold request_ok; simpl; lia|]); contradiction.
Ltac parameters :=
  constructor; [intros r H; each H| | | |vm_compute; discriminate|vm_compute; discriminate
    |vm_compute; reflexivity|vm_compute; discriminate|vm_compute; discriminate
    | | |intros j H; each H];
  try (unfold collection_ok; simpl; lia); try (simpl; repeat split; intros; try lia; discriminate).

Definition weak_processor : processor :=
  Processor [Request 1 8 6 2 1 1]
    (Collection 4 3 3 3 0 0) 1 4 6 7 0 1 0 0 3 1 4 1
    false 0 0 [].
Definition weak_trace : trace := Trace
  [Job 0 0 6 (Req 0) 1 1;
   Job 8 10 14 (Req 0) 1 1;
   Job 18 20 24 (Req 0) 1 1;
   Job 20 20 24 (Gc 1) 0 0]
  [Step 0 0 1 (AProg 1) true;
   Step 1 10 11 (AProg 1) true;
   Step 3 20 20 (APick 1) false;
   Step 3 20 23 (ACopy 1) false;
   Step 3 23 24 AErase true;
   Step 2 24 25 (AProg 1) true]
  4 24.
Definition weak_blocks (k : nat) : list block :=
  match k with
  | 2 => [Block Closed 0 1; Block Closed 0 1; Block Closed 0 1; Block Closed 0 1; Block Closed 0
      1; Block Open 2 2]
  | _ => []
  end%nat.

Example weak_parameters : parameters_ok weak_processor.
Proof. parameters. Qed.
Example weak_accepted : decide (p_rs weak_processor) (p_g weak_processor) = Accepted.
Proof. vm_compute. reflexivity. Qed.
Example weak_obeys : obeys weak_processor weak_trace.
Proof. apply (obeysb_spec _ _ weak_blocks). vm_compute. reflexivity. Qed.
(* Job 2 misses its deadline, 24. *)
Example broken : missed weak_trace 2 /\ j_due (jb weak_trace 2) <= x_end weak_trace.
Proof. vm_compute. repeat split; discriminate. Qed.
