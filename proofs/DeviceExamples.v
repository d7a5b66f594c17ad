(* Theorem 3 is not vacuous: two devices at work, made by a simulator with a page map. That each
   obeys every rule is computed, and so is that (T') accepts a chip that (T) rejects. In the second
   one the neighbour is a superblock, so that (33) counts its reads, its passes and its rows. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Bus Trace Check Reserve Costs Server Edf
  Closing Neighbours Device Frontier Theorem3 DeviceCheck Examples.
Import ListNotations.
Open Scope Z_scope.

(* Two chips on one bus. *)
Definition two_trace_0 : trace := Trace
  [Job 9 9 67 (Req 0) 0 6; Job 72 72 272 (Req 1) 0 1; Job 109 109 167 (Req 0) 0 6]
  [Step 0 9 15 ARead false; Step 0 15 21 ARead false; Step 0 21 27 ARead false;
   Step 0 27 35 ARead false; Step 0 35 41 ARead false; Step 0 41 47 ARead true;
   Step 1 72 81 ARead true; Step 2 109 115 ARead false; Step 2 115 121 ARead false;
   Step 2 121 127 ARead false; Step 2 127 135 ARead false; Step 2 135 141 ARead false;
   Step 2 141 147 ARead true]
  4 200.
Definition two_trace_1 : trace := Trace
  [Job 23 23 73 (Req 0) 1 1; Job 73 73 123 (Req 0) 1 1; Job 124 124 174 (Req 0) 1 1;
   Job 174 174 224 (Req 0) 1 1; Job 73 73 223 (Gc 1) 0 0; Job 174 174 324 (Gc 2) 0 0]
  [Step 0 23 37 (AProg 1) true; Step 1 73 83 (AProg 1) true; Step 4 83 83 AVoid true;
   Step 2 124 137 (AProg 1) true; Step 3 174 184 (AProg 1) true; Step 5 184 184 (APick 1) false;
   Step 5 184 192 (ACopy 1) false; Step 5 192 202 AErase true]
  8 200.
Definition two_blocks_1 (k : nat) : list block :=
  match k with
  | 5 =>
    [Block Closed 0 1; Block Closed 0 4; Block Closed 0 1; Block Closed 0 2; Block Closed 0 3;
     Block Closed 0 1; Block Closed 0 3; Block Closed 0 1; Block Closed 0 4; Block Erased 4 0]
  | _ => []
  end%nat.
Definition two_channel_0 : channel := Channel 2
  [Transfer 0 9 11 11 15; Transfer 0 15 17 17 21; Transfer 0 21 23 23 27; Transfer 1 23 23 27 31;
   Transfer 0 27 29 31 35; Transfer 0 35 37 37 41; Transfer 0 41 43 43 47;
   Transfer 1 73 73 73 77; Transfer 0 72 74 77 81; Transfer 0 109 111 111 115;
   Transfer 0 115 117 117 121; Transfer 0 121 123 123 127; Transfer 1 124 124 127 131;
   Transfer 0 127 129 131 135; Transfer 0 135 137 137 141; Transfer 0 141 143 143 147;
   Transfer 1 174 174 174 178].
Definition two_member_0 : member := Member false [(0, 0)%nat] 2 1
  [Demanded false 6 100 58 0; Demanded false 1 200 200 0]
  (Stated 50 3 3 1 0 false []) false 10 4 10 two_trace_0.
Definition two_member_1 : member := Member false [(0, 1)%nat] 2 1
  [Demanded true 1 50 50 0]
  (Stated 150 2 6 2 0 false []) false 10 4 20 two_trace_1.
Definition two_device : system := System (Device 2 6 10 4 1)
  [two_channel_0]
  [two_member_0; two_member_1] 200.
Definition two_blocks (i : nat) : nat -> list block :=
  match i with
  | 1 => two_blocks_1
  | _ => fun _ => []
  end%nat.

(* A chip of a stripe, and a superblock with a chip on each of two channels. *)
Definition mixed_trace_0 : trace := Trace
  [Job 36 36 120 (Req 0) 0 9; Job 86 86 386 (Req 1) 0 1; Job 196 196 280 (Req 0) 0 9;
   Job 356 356 440 (Req 0) 0 9; Job 386 386 686 (Req 1) 0 1]
  [Step 0 36 42 ARead false; Step 0 42 50 ARead false; Step 0 50 57 ARead false;
   Step 0 57 63 ARead false; Step 0 63 69 ARead false; Step 0 69 75 ARead false;
   Step 0 75 81 ARead false; Step 0 81 87 ARead false; Step 0 87 91 ARead true;
   Step 1 91 97 ARead true; Step 2 196 202 ARead false; Step 2 202 208 ARead false;
   Step 2 208 214 ARead false; Step 2 214 219 ARead false; Step 2 219 225 ARead false;
   Step 2 225 231 ARead false; Step 2 231 234 ARead false; Step 2 234 240 ARead false;
   Step 2 240 246 ARead true; Step 3 356 362 ARead false; Step 3 362 368 ARead false;
   Step 3 368 374 ARead false; Step 3 374 380 ARead false; Step 3 380 386 ARead false;
   Step 3 386 392 ARead false; Step 3 392 401 ARead false]
  4 400.
Definition mixed_trace_1 : trace := Trace
  [Job 36 41 136 (Req 1) 0 1; Job 44 44 194 (Req 0) 2 1; Job 304 304 454 (Req 0) 2 1;
   Job 387 391 487 (Req 1) 0 1; Job 44 44 174 (Gc 1) 0 0; Job 304 304 434 (Gc 2) 0 0]
  [Step 0 41 46 ARead true; Step 4 46 46 AVoid true; Step 1 46 60 (AProg 2) true;
   Step 5 304 304 (APick 1) false; Step 5 304 310 AGcRead false; Step 5 310 319 (ACopy 1) false;
   Step 5 319 329 AErase true; Step 2 329 339 (AProg 2) true; Step 3 391 397 ARead true]
  8 400.
Definition mixed_blocks_1 (k : nat) : list block :=
  match k with
  | 3 =>
    [Block Closed 0 1; Block Closed 0 2; Block Closed 0 2; Block Closed 0 1; Block Closed 0 2;
     Block Closed 0 3; Block Closed 0 3; Block Closed 0 2; Block Open 2 2; Block Erased 4 0]
  | _ => []
  end%nat.
Definition mixed_channel_0 : channel := Channel 2
  [Transfer 0 36 38 38 42; Transfer 1 41 42 42 46; Transfer 0 42 44 46 50;
   Transfer 1 46 46 50 54; Transfer 0 50 51 54 57; Transfer 0 57 59 59 63;
   Transfer 0 63 65 65 69; Transfer 0 69 71 71 75; Transfer 0 75 77 77 81;
   Transfer 0 81 83 83 87; Transfer 0 87 89 89 91; Transfer 0 91 93 93 97;
   Transfer 0 196 198 198 202; Transfer 0 202 204 204 208; Transfer 0 208 210 210 214;
   Transfer 0 214 215 215 219; Transfer 0 219 221 221 225; Transfer 0 225 227 227 231;
   Transfer 0 231 233 233 234; Transfer 0 234 236 236 240; Transfer 0 240 242 242 246;
   Transfer 1 304 306 306 310; Transfer 1 310 310 310 313; Transfer 1 329 329 329 333;
   Transfer 0 356 358 358 362; Transfer 0 362 364 364 368; Transfer 0 368 370 370 374;
   Transfer 0 374 376 376 380; Transfer 0 380 382 382 386; Transfer 0 386 388 388 392;
   Transfer 1 391 393 393 397; Transfer 0 392 394 397 401].
Definition mixed_channel_1 : channel := Channel 1
  [Transfer 0 46 46 46 50; Transfer 0 329 329 329 333].
Definition mixed_member_0 : member := Member false [(0, 0)%nat] 2 1
  [Demanded false 9 160 84 0; Demanded false 1 300 300 0]
  (Stated 50 3 3 1 0 false []) false 10 4 10 mixed_trace_0.
Definition mixed_member_1 : member := Member true [(0, 1)%nat; (1, 0)%nat] 2 10
  [Demanded true 2 260 150 0; Demanded false 1 300 100 5]
  (Stated 130 2 5 2 0 false []) false 10 2 18 mixed_trace_1.
Definition mixed_device : system := System (Device 2 6 10 4 1)
  [mixed_channel_0; mixed_channel_1]
  [mixed_member_0; mixed_member_1] 400.
Definition mixed_blocks (i : nat) : nat -> list block :=
  match i with
  | 1 => mixed_blocks_1
  | _ => fun _ => []
  end%nat.

(* All but what the processors' tests say. *)
Example two_obeys : device_obeys two_device /\
  forall m, In m (y_members two_device) -> stated_well two_device m.
Proof. apply (device_obeysb_spec _ two_blocks (fun _ => 0)). vm_compute. reflexivity. Qed.
Example mixed_obeys : device_obeys mixed_device /\
  forall m, In m (y_members mixed_device) -> stated_well mixed_device m.
Proof. apply (device_obeysb_spec _ mixed_blocks (fun _ => 0)). vm_compute. reflexivity. Qed.

Ltac reject L :=
  intros HT; unfold passes_T, demand_test in HT; specialize (HT L);
  assert (Hf := HT (ex_intro _ L (conj (or_introl eq_refl) (Z.le_refl L)))); clear HT;
  vm_compute in Hf; apply Hf; reflexivity.
Ltac accept h c :=
  exists h, c; split; [reflexivity|]; apply device_testb_spec;
  [unfold device_ok; simpl; lia
  |intros w Hw; simpl in Hw; repeat (destruct Hw as [<-|Hw]; [unfold demanded_ok; simpl; lia|]);
   contradiction
  |unfold collection_ok; simpl; lia
  |vm_compute; reflexivity].

(* (T) rejects the first chip, at a length below its last one; (T') accepts it. *)
Example two_rejected_by_T :
  load_fits (p_rs (proc two_device two_member_0)) (p_g (proc two_device two_member_0)) = true /\
  ~ passes_T two_device two_member_0.
Proof. split; [vm_compute; reflexivity|]. reject 58. Qed.
Example two_accepted_by_T' : passes_T' two_device two_member_0.
Proof. accept 0%nat 0%nat. Qed.
Example mixed_rejected_by_T :
  load_fits (p_rs (proc mixed_device mixed_member_0)) (p_g (proc mixed_device mixed_member_0)) = true
  /\ ~ passes_T mixed_device mixed_member_0.
Proof. split; [vm_compute; reflexivity|]. reject 84. Qed.
Example mixed_accepted_by_T' : passes_T' mixed_device mixed_member_0.
Proof. accept 0%nat 0%nat. Qed.

(* A processor passes (T), by the decision of Demand.v. *)
Ltac by_decision Y m obeyed :=
  unfold passes_T;
  assert (ok : parameters_ok (proc Y m))
    by (apply member_ok; [unfold device_ok; simpl; lia|apply obeyed|simpl; auto]);
  pose proof (decide_correct (p_rs (proc Y m)) (p_g (proc Y m)) (ok_requests _ ok)
    (ok_collection _ ok)) as H;
  replace (decide (p_rs (proc Y m)) (p_g (proc Y m))) with Accepted in H
    by (vm_compute; reflexivity);
  exact H.

(* So all processors of both devices keep their promises. *)
Example two_promises : forall m, In m (y_members two_device) ->
  promises_kept (proc two_device m) (mb_X m).
Proof.
  apply theorem_3; [unfold device_ok; simpl; lia|apply two_obeys|apply two_obeys|].
  intros m [<-|[<-|[]]].
  - right. split; [reflexivity|apply two_accepted_by_T'].
  - left. by_decision two_device two_member_1 two_obeys.
Qed.
Example mixed_promises : forall m, In m (y_members mixed_device) ->
  promises_kept (proc mixed_device m) (mb_X m).
Proof.
  apply theorem_3; [unfold device_ok; simpl; lia|apply mixed_obeys|apply mixed_obeys|].
  intros m [<-|[<-|[]]].
  - right. split; [reflexivity|apply mixed_accepted_by_T'].
  - left. by_decision mixed_device mixed_member_1 mixed_obeys.
Qed.

(* What is in them: transfers that wait, passes, copies, void jobs. *)
Definition waiting (h : channel) : Z :=
  suml (fun t => ind (tr_asked t <? tr_granted t)) (ch_transfers h).
Example two_has : 1 <= waiting two_channel_0 /\ 1 <= acts two_trace_1 true is_erase /\
  1 <= acts two_trace_1 true is_copy /\ 1 <= acts two_trace_1 true is_void.
Proof. vm_compute. repeat split; discriminate. Qed.
Example mixed_has : 1 <= waiting mixed_channel_0 /\ 1 <= acts mixed_trace_1 true is_erase /\
  1 <= acts mixed_trace_1 true is_copy /\ 1 <= acts mixed_trace_1 true is_void.
Proof. vm_compute. repeat split; discriminate. Qed.
