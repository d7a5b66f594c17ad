(* v less a page: (C4) allows a victim with one more. *)
(* weaken Trace.v s|ok_C4 : p_Lam P / (p_N P - F_of P) <= p_v P;|ok_C4 : p_Lam P / (p_N P - F_of P) <= p_v P + 1;| *)
(* fails Reserve.v victims_are_cheap *)
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
  Processor [Request 3 20 6 0 3 1; Request 2 15 12 0 1 2]
    (Collection 9 3 3 3 0 0) 1 3 12 15 0 1 0 0 1 3 5 0
    false 0 0 [].
Definition weak_trace : trace := Trace
  [Job 6 6 12 (Req 0) 1 1;
   Job 15 15 27 (Req 1) 2 2;
   Job 15 15 24 (Gc 1) 0 0]
  [Step 0 6 9 (AProg 1) true;
   Step 2 15 15 (APick 1) false;
   Step 2 15 16 (ACopy 1) false]
  5 15.
Definition weak_blocks (k : nat) : list block :=
  match k with
  | 1 => [Block Closed 0 1; Block Closed 0 1; Block Closed 0 1; Block Open 1 1; Block Closed 0 1;
      Block Closed 0 2; Block Closed 0 1; Block Closed 0 2; Block Closed 0 2; Block Closed 0 2;
      Block Closed 0 1; Block Erased 3 0]
  | _ => []
  end%nat.

Example weak_parameters : parameters_ok weak_processor.
Proof. parameters. Qed.
Example weak_accepted : decide (p_rs weak_processor) (p_g weak_processor) = Accepted.
Proof. vm_compute. reflexivity. Qed.
Example weak_obeys : obeys weak_processor weak_trace.
Proof. apply (obeysb_spec _ _ weak_blocks). vm_compute. reflexivity. Qed.
(* A victim has more than v valid pages. *)
Example broken : existsb (fun s => match s_act s with APick k => p_v weak_processor <? k | _ => false end)
  (x_steps weak_trace) = true.
Proof. vm_compute. reflexivity. Qed.
