(* R less a page. *)
(* weaken Trace.v s|g_alpha (p_g P) + p_v P + p_s P - 1 else 0|g_alpha (p_g P) + p_v P + p_s P - 2 else 0| *)
(* fails Reserve.v server_reserve_covers *)
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
  Processor [Request 2 15 14 0 2 1]
    (Collection 15 1 1 1 200 4) 1 1 8 4 0 1 0 0 4 1 1 0
    true 1 2 [Served 4 1 0 9; Served 9 2 5 94; Served 16 1 3 144; Served 18 0 3 189; Served 18 0 4
        249].
Definition weak_trace : trace := Trace
  [Job 4 4 9 (Srv 0) 0 1;
   Job 9 9 94 (Srv 1) 5 2;
   Job 12 12 26 (Req 0) 1 1;
   Job 12 12 27 (Gc 1) 0 0]
  [Step 0 4 5 ARead true;
   Step 1 9 10 ARead false;
   Step 1 10 11 ARead false;
   Step 1 11 13 (AProg 1) false]
  1 13.
Definition weak_blocks (k : nat) : list block :=
  [].

Example weak_parameters : parameters_ok weak_processor.
Proof. parameters. Qed.
Example weak_accepted : decide (p_rs weak_processor) (p_g weak_processor) = Accepted.
Proof. vm_compute. reflexivity. Qed.
Example weak_obeys : obeys weak_processor weak_trace.
Proof. apply (obeysb_spec _ _ weak_blocks). vm_compute. reflexivity. Qed.
(* A page is lacking: f < b. *)
Example broken :
  free_pages weak_processor weak_trace 12 < pending weak_processor weak_trace 12.
Proof. vm_compute. reflexivity. Qed.
