(* (31) without the deadline before: d_j = a_j + ⌈C_j/U_s⌉. *)
(* weaken Trace.v s|Z.max (sv_a (sj j)) (match j with O => 0 . S i => served_due i end)|Z.max (sv_a (sj j)) (match j with O => 0 \| S i => 0 * served_due i end)| *)
(* fails Server.v *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace Check.
Import ListNotations.
Open Scope Z_scope.

Ltac each H :=
  simpl in H; repeat (destruct H as [<-|H]; [unfold request_ok; simpl; lia|]); contradiction.
Ltac parameters :=
  constructor; [intros r H; each H| | | |vm_compute; discriminate|vm_compute; discriminate
    |vm_compute; reflexivity|vm_compute; discriminate|vm_compute; discriminate| | |intros j H; each H];
  try (unfold collection_ok; simpl; lia); try (simpl; repeat split; intros; try lia; discriminate).

Definition weak_processor : processor :=
  Processor [Request 3 23 10 0 3 1]
    (Collection 19 1 7 4 200 4) 1 4 7 10 0 1 1 4 8 3
    true 1 2 [Served 9 2 3; Served 9 0 5; Served 19 2 0; Served 26 1 2; Served 33 0 5].
Definition weak_trace : trace := Trace
  [Job 9 9 154 (Srv 0) 3 2;
   Job 9 9 234 (Srv 1) 5 0;
   Job 19 19 29 (Srv 2) 0 2;
   Job 21 21 31 (Req 0) 1 1;
   Job 26 26 121 (Srv 3) 2 1;
   Job 21 21 40 (Gc 1) 0 0]
  [Step 0 9 10 ARead false;
   Step 0 10 11 ARead false;
   Step 0 11 13 (AProg 1) false;
   Step 0 13 13 (APick 1) false;
   Step 0 13 14 (ACopy 1) false;
   Step 0 14 18 AErase false;
   Step 0 18 20 (AProg 1) false;
   Step 2 20 21 ARead false;
   Step 2 21 22 ARead false;
   Step 2 22 24 (AProg 1) false;
   Step 2 24 26 (AProg 1) false;
   Step 2 26 28 (AProg 1) false;
   Step 2 28 30 (AProg 1) false;
   Step 2 30 31 (AProg 1) false;
   Step 2 31 33 (AProg 1) true]
  8 31.
Definition weak_blocks (k : nat) : list block :=
  match k with
  | 3 => [Block Closed 0 1; Block Erased 4 0; Block Closed 0 2; Block Closed 0 2; Block Closed 0
      2; Block Open 3 1; Block Closed 0 2]
  | _ => []
  end%nat.

Example weak_parameters : parameters_ok weak_processor.
Proof. parameters. Qed.
Example weak_accepted : decide (p_rs weak_processor) (p_g weak_processor) = Accepted.
Proof. vm_compute. reflexivity. Qed.
Example weak_obeys : obeys weak_processor weak_trace.
Proof. apply (obeysb_spec _ _ weak_blocks). vm_compute. reflexivity. Qed.
(* Job 3 misses its deadline, 31. *)
Example broken : missed weak_trace 3 /\ j_due (jb weak_trace 3) <= x_end weak_trace.
Proof. vm_compute. repeat split; discriminate. Qed.
