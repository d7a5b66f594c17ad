(* No blocking term: B(L) = 0. *)
(* weaken Edf.v s|~ demand_test (p_rs P) (p_g P)\.|~ (forall L, (exists y, In y (deadlines (p_rs P) (p_g P)) /\\ y <= L) -> 1000 * dbf (p_rs P) (p_g P) L <= share (p_g P) * L).| *)
(* fails Edf.v late_job_contradicts_T *)
(* beside the theory as it is: the weakened test is written out here *)
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
  Processor [Request 3 8 3 0 3 1; Request 1 11 11 1 1 1]
    (Collection 23 3 4 4 0 0) 1 3 12 3 0 2 0 0 2 4 8 0
    false 0 0 [].
Definition weak_trace : trace := Trace
  [Job 0 0 11 (Req 1) 1 1;
   Job 5 5 8 (Req 0) 1 1;
   Job 11 11 22 (Req 1) 1 1;
   Job 13 13 16 (Req 0) 1 1;
   Job 11 11 34 (Gc 1) 0 0]
  [Step 0 0 1 (AProg 1) true;
   Step 1 5 8 (AProg 1) true;
   Step 2 11 12 (AProg 1) true;
   Step 4 12 12 (APick 0) false;
   Step 4 12 16 AErase true;
   Step 3 16 19 (AProg 1) true]
  8 16.
Definition weak_blocks (k : nat) : list block :=
  match k with
  | 3 => [Block Erased 3 0; Block Closed 0 0; Block Closed 0 0; Block Closed 0 0; Block Closed 0
      0; Block Closed 0 0; Block Closed 0 0; Block Closed 0 0; Block Closed 0 1; Block Open 2 1;
      Block Closed 0 0; Block Closed 0 1]
  | _ => []
  end%nat.

Example weak_parameters : parameters_ok weak_processor.
Proof. parameters. Qed.
(* It fits at every length up to L_max of the full test, beyond which that fits. *)
Definition weak_fits (L : Z) : bool :=
  let rs := p_rs weak_processor in
  let g := p_g weak_processor in
  1000 * dbf rs g L <=? share g * L.
Example weak_accepted :
  load_fits (p_rs weak_processor) (p_g weak_processor) = true /\
  forallb (fun L => negb (existsb (fun d => d <=? L)
      (deadlines (p_rs weak_processor) (p_g weak_processor))) || weak_fits L)
    (instants (last_length (p_rs weak_processor) (p_g weak_processor) + 1)) = true.
Proof. split; vm_compute; reflexivity. Qed.
Example weak_obeys : obeys weak_processor weak_trace.
Proof. apply (obeysb_spec _ _ weak_blocks). vm_compute. reflexivity. Qed.
(* Job 3 misses its deadline, 16. *)
Example broken : missed weak_trace 3 /\ j_due (jb weak_trace 3) <= x_end weak_trace.
Proof. vm_compute. repeat split; discriminate. Qed.
