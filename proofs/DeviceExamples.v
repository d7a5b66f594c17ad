(* Theorem 3 is not vacuous: devices at work, two made by a simulator with a page map. That each
   obeys every rule is computed, and so is that (T') accepts a chip that (T) rejects. In the second
   one the neighbour is a superblock, so that (34) counts its reads, its passes and its rows. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Bus Trace Check Reserve Costs Server Edf
  Closing Neighbours Device Frontier Theorem3 LastLength DeviceCheck Examples.
Import ListNotations.
Open Scope Z_scope.

(* Two chips on one bus. *)
Definition two_trace_0 : trace := Trace
  [Job 11 11 211 (Req 1) 0 1; Job 48 48 106 (Req 0) 0 6; Job 148 148 206 (Req 0) 0 6]
  [Step 0 11 20 ARead true; Step 1 48 54 ARead false; Step 1 54 60 ARead false;
   Step 1 60 66 ARead false; Step 1 66 74 ARead false; Step 1 74 80 ARead false;
   Step 1 80 86 ARead true; Step 2 148 154 ARead false; Step 2 154 160 ARead false;
   Step 2 160 166 ARead false; Step 2 166 172 ARead false; Step 2 172 181 ARead false;
   Step 2 181 187 ARead true]
  4 200.
Definition two_trace_1 : trace := Trace
  [Job 12 12 62 (Req 0) 1 1; Job 62 62 112 (Req 0) 1 1; Job 112 112 162 (Req 0) 1 1;
   Job 173 173 223 (Req 0) 1 1; Job 62 62 212 (Gc 1) 0 0; Job 173 173 323 (Gc 2) 0 0]
  [Step 0 12 22 (AProg 1) true; Step 1 62 76 (AProg 1) true; Step 4 76 76 AVoid true;
   Step 2 112 122 (AProg 1) true; Step 3 173 183 (AProg 1) true; Step 5 183 183 (APick 1) false;
   Step 5 183 191 (ACopy 1) false; Step 5 191 201 AErase true]
  8 200.
Definition two_blocks_1 (k : nat) : list block :=
  match k with
  | 5 =>
    [Block Closed 0 2; Block Closed 0 2; Block Closed 0 1; Block Closed 0 3; Block Closed 0 3;
     Block Closed 0 2; Block Closed 0 2; Block Closed 0 2; Block Closed 0 3; Block Erased 4 0]
  | _ => []
  end%nat.
Definition two_channel_0 : channel := Channel 2
  [Transfer 1 12 12 12 16; Transfer 0 11 13 16 20; Transfer 0 48 50 50 54;
   Transfer 0 54 56 56 60; Transfer 0 60 62 62 66; Transfer 1 62 62 66 70;
   Transfer 0 66 68 70 74; Transfer 0 74 76 76 80; Transfer 0 80 82 82 86;
   Transfer 1 112 112 112 116; Transfer 0 148 150 150 154; Transfer 0 154 156 156 160;
   Transfer 0 160 162 162 166; Transfer 0 166 168 168 172; Transfer 1 173 173 173 177;
   Transfer 0 172 174 177 181; Transfer 0 181 183 183 187].
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
  [Job 2 2 86 (Req 0) 0 9; Job 142 142 442 (Req 1) 0 1; Job 162 162 246 (Req 0) 0 9;
   Job 322 322 406 (Req 0) 0 9]
  [Step 0 2 5 ARead false; Step 0 5 11 ARead false; Step 0 11 14 ARead false;
   Step 0 14 20 ARead false; Step 0 20 26 ARead false; Step 0 26 32 ARead false;
   Step 0 32 37 ARead false; Step 0 37 45 ARead false; Step 0 45 51 ARead true;
   Step 1 142 148 ARead true; Step 2 162 168 ARead false; Step 2 168 174 ARead false;
   Step 2 174 180 ARead false; Step 2 180 186 ARead false; Step 2 186 192 ARead false;
   Step 2 192 196 ARead false; Step 2 196 202 ARead false; Step 2 202 206 ARead false;
   Step 2 206 212 ARead true; Step 3 322 331 ARead false; Step 3 331 337 ARead false;
   Step 3 337 343 ARead false; Step 3 343 346 ARead false; Step 3 346 354 ARead false;
   Step 3 354 362 ARead false; Step 3 362 368 ARead false; Step 3 368 374 ARead false;
   Step 3 374 380 ARead true]
  4 400.
Definition mixed_trace_1 : trace := Trace
  [Job 32 32 132 (Req 1) 0 1; Job 57 57 207 (Req 0) 2 1; Job 317 317 467 (Req 0) 2 1;
   Job 332 336 432 (Req 1) 0 1; Job 57 57 187 (Gc 1) 0 0; Job 317 317 447 (Gc 2) 0 0]
  [Step 0 32 41 ARead true; Step 4 57 57 AVoid true; Step 1 57 67 (AProg 2) true;
   Step 5 317 317 (APick 1) false; Step 5 317 323 (AGcRead 1) false; Step 5 323 333 (ACopy 1) false;
   Step 5 333 343 AErase true; Step 3 343 350 ARead true; Step 2 350 364 (AProg 2) true]
  8 400.
Definition mixed_blocks_1 (k : nat) : list block :=
  match k with
  | 3 =>
    [Block Closed 0 1; Block Closed 0 3; Block Closed 0 3; Block Closed 0 2; Block Closed 0 1;
     Block Closed 0 3; Block Closed 0 1; Block Closed 0 2; Block Open 2 2; Block Erased 4 0]
  | _ => []
  end%nat.
Definition mixed_channel_0 : channel := Channel 2
  [Transfer 0 2 4 4 5; Transfer 0 5 7 7 11; Transfer 0 11 13 13 14; Transfer 0 14 16 16 20;
   Transfer 0 20 22 22 26; Transfer 0 26 28 28 32; Transfer 0 32 34 34 37;
   Transfer 1 32 34 37 41; Transfer 0 37 38 41 45; Transfer 0 45 47 47 51;
   Transfer 1 57 57 57 61; Transfer 0 142 144 144 148; Transfer 0 162 164 164 168;
   Transfer 0 168 170 170 174; Transfer 0 174 176 176 180; Transfer 0 180 182 182 186;
   Transfer 0 186 188 188 192; Transfer 0 192 194 194 196; Transfer 0 196 198 198 202;
   Transfer 0 202 204 204 206; Transfer 0 206 208 208 212; Transfer 1 323 323 323 327;
   Transfer 0 322 324 327 331; Transfer 0 331 333 333 337; Transfer 0 337 339 339 343;
   Transfer 0 343 345 345 346; Transfer 1 343 345 346 350; Transfer 0 346 348 350 354;
   Transfer 1 350 350 354 358; Transfer 0 354 355 358 362; Transfer 0 362 364 364 368;
   Transfer 0 368 370 370 374; Transfer 0 374 376 376 380].
Definition mixed_channel_1 : channel := Channel 1
  [Transfer 0 57 57 57 61; Transfer 0 317 319 319 323; Transfer 0 350 350 350 354].
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

(* A superblock with both chips on one channel: a GC read of two pages takes t_d longer than one. *)
Definition beside_trace : trace := Trace
  [Job 0 0 20 (Req 0) 1 1; Job 0 0 16 (Gc 1) 0 0]
  [Step 1 0 0 (APick 3) false; Step 1 0 3 (AGcRead 2) false; Step 1 3 6 (ACopy 2) false;
   Step 1 6 8 (AGcRead 1) false; Step 1 8 10 (ACopy 1) false; Step 1 10 11 AErase true;
   Step 0 11 13 (AProg 1) true]
  4 20.
Definition beside_blocks (_ k : nat) : list block :=
  match k with
  | 0 =>
    [Block Closed 0 3; Block Closed 0 3; Block Closed 0 3; Block Closed 0 3; Block Closed 0 3;
     Block Closed 0 3; Block Closed 0 3; Block Closed 0 3; Block Erased 4 0]
  | _ => []
  end%nat.
Definition beside_channel : channel := Channel 2
  [Transfer 0 0 1 1 2; Transfer 1 0 1 2 3; Transfer 0 3 3 3 4; Transfer 1 3 3 4 5;
   Transfer 0 6 7 7 8; Transfer 0 8 8 8 9; Transfer 1 11 11 11 12].
Definition beside_member : member := Member true [(0, 0)%nat; (0, 1)%nat] 2 2
  [Demanded true 1 100 20 0]
  (Stated 16 1 4 3 0 false []) false 9 2 27 beside_trace.
Definition beside_device : system := System (Device 1 1 1 1 1)
  [beside_channel] [beside_member] 20.

(* Three chips on two channels: one with a server, one beside it, and one with background jobs. *)
Definition serving_trace_0 : trace := Trace
  [Job 0 0 185 (Srv 0) 2 1; Job 20 20 135 (Req 0) 0 6]
  [Step 0 0 6 ARead false; Step 0 6 16 (AProg 1) false; Step 0 16 16 AVoid false;
   Step 0 16 26 (AProg 1) false; Step 1 26 32 ARead false; Step 1 32 38 ARead false;
   Step 1 38 44 ARead false; Step 1 44 50 ARead false; Step 1 50 56 ARead false;
   Step 1 56 65 ARead true; Step 0 65 65 (APick 1) false; Step 0 65 73 (ACopy 1) false;
   Step 0 73 83 AErase true]
  4 240.
Definition serving_trace_1 : trace := Trace
  [Job 7 7 57 (Req 0) 1 1; Job 57 57 107 (Req 0) 1 1; Job 107 107 157 (Req 0) 1 1;
   Job 173 173 223 (Req 0) 1 1; Job 57 57 207 (Gc 1) 0 0; Job 173 173 323 (Gc 2) 0 0]
  [Step 0 7 20 (AProg 1) true; Step 1 57 67 (AProg 1) true; Step 4 67 67 AVoid true;
   Step 2 107 117 (AProg 1) true; Step 3 173 183 (AProg 1) true; Step 5 183 183 (APick 1) false;
   Step 5 183 191 (ACopy 1) false; Step 5 191 201 AErase true]
  8 240.
Definition serving_trace_2 : trace := Trace
  [Job 10 10 60 (Req 0) 1 1; Job 60 60 110 (Req 0) 1 1; Job 130 130 180 (Req 0) 1 1;
   Job 4 4 1000 Bg 1 2; Job 100 100 1000 Bg 0 1; Job 60 60 210 (Gc 1) 0 0]
  [Step 3 4 10 ARead false; Step 0 10 20 (AProg 1) true; Step 3 20 30 (AProg 1) true;
   Step 1 60 70 (AProg 1) true; Step 5 70 70 (APick 1) false; Step 5 70 78 (ACopy 1) false;
   Step 5 78 88 AErase true; Step 4 100 106 ARead true; Step 2 130 140 (AProg 1) true]
  8 240.
Definition serving_channel_0 : channel := Channel 2
  [Transfer 0 0 2 2 6; Transfer 0 6 6 6 10; Transfer 1 7 7 10 14; Transfer 0 16 16 16 20;
   Transfer 0 26 28 28 32; Transfer 0 32 34 34 38; Transfer 0 38 40 40 44;
   Transfer 0 44 46 46 50; Transfer 0 50 52 52 56; Transfer 1 57 57 57 61;
   Transfer 0 56 58 61 65; Transfer 1 107 107 107 111; Transfer 1 173 173 173 177].
Definition serving_channel_1 : channel := Channel 1
  [Transfer 0 4 6 6 10; Transfer 0 10 10 10 14; Transfer 0 20 20 20 24; Transfer 0 60 60 60 64;
   Transfer 0 100 102 102 106; Transfer 0 130 130 130 134].
Definition serving_blocks (i k : nat) : list block :=
  match i, k with
  | 0, 10 =>
    [Block Closed 0 1; Block Closed 0 1; Block Closed 0 1; Block Closed 0 1; Block Closed 0 2;
     Block Closed 0 1; Block Closed 0 1; Block Closed 0 1; Block Closed 0 1; Block Open 2 2]
  | 1, 5 =>
    [Block Closed 0 2; Block Closed 0 2; Block Closed 0 1; Block Closed 0 3; Block Closed 0 3;
     Block Closed 0 2; Block Closed 0 2; Block Closed 0 2; Block Closed 0 3; Block Erased 4 0]
  | 2, 4 =>
    [Block Closed 0 2; Block Closed 0 1; Block Closed 0 2; Block Closed 0 2; Block Closed 0 3;
     Block Closed 0 2; Block Closed 0 2; Block Closed 0 3; Block Open 1 3; Block Erased 4 0]
  | _, _ => []
  end%nat.
Definition serving_member_0 : member := Member false [(0, 0)%nat] 2 1
  [Demanded false 6 200 115 0]
  (Stated 150 1 3 1 400 true [Served 0 1 2 185]) false 10 4 12 serving_trace_0.
Definition serving_member_1 : member := Member false [(0, 1)%nat] 2 1
  [Demanded true 1 50 50 0]
  (Stated 150 2 6 2 0 false []) false 10 4 20 serving_trace_1.
Definition serving_member_2 : member := Member false [(1, 0)%nat] 1 1
  [Demanded true 1 50 50 0]
  (Stated 150 2 6 2 0 false []) true 10 4 20 serving_trace_2.
Definition serving_device : system := System (Device 2 6 10 4 1)
  [serving_channel_0; serving_channel_1]
  [serving_member_0; serving_member_1; serving_member_2] 240.

(* All but what the processors' tests say. *)
Example two_obeys : device_obeys two_device /\
  forall m, In m (y_members two_device) -> stated_well two_device m.
Proof. apply (device_obeysb_spec _ two_blocks (fun _ => 0)). vm_compute. reflexivity. Qed.
Example mixed_obeys : device_obeys mixed_device /\
  forall m, In m (y_members mixed_device) -> stated_well mixed_device m.
Proof. apply (device_obeysb_spec _ mixed_blocks (fun _ => 0)). vm_compute. reflexivity. Qed.
Example beside_obeys : device_obeys beside_device /\
  forall m, In m (y_members beside_device) -> stated_well beside_device m.
Proof. apply (device_obeysb_spec _ beside_blocks (fun _ => 0)). vm_compute. reflexivity. Qed.
Example serving_obeys : device_obeys serving_device /\
  forall m, In m (y_members serving_device) -> stated_well serving_device m.
Proof. apply (device_obeysb_spec _ serving_blocks (fun _ => 0)). vm_compute. reflexivity. Qed.

Ltac reject L :=
  intros HT; unfold passes_T, demand_test in HT; specialize (HT L);
  assert (Hf := HT (ex_intro _ L (conj (or_introl eq_refl) (Z.le_refl L)))); clear HT;
  vm_compute in Hf; apply Hf; reflexivity.
(* (T) rejects the first chip, at a length below its last one; (T') accepts it. *)
Example two_rejected_by_T :
  load_fits (p_rs (proc two_device two_member_0)) (p_g (proc two_device two_member_0)) = true /\
  ~ passes_T two_device two_member_0.
Proof. split; [vm_compute; reflexivity|]. reject 58. Qed.
Example two_accepted_by_T' : passes_T' two_device two_member_0.
Proof.
  apply passes_T'b_spec; [unfold device_ok; simpl; lia|apply two_obeys|simpl; auto|].
  vm_compute. reflexivity.
Qed.
Example mixed_rejected_by_T :
  load_fits (p_rs (proc mixed_device mixed_member_0))
    (p_g (proc mixed_device mixed_member_0)) = true /\
  ~ passes_T mixed_device mixed_member_0.
Proof. split; [vm_compute; reflexivity|]. reject 84. Qed.
Example mixed_accepted_by_T' : passes_T' mixed_device mixed_member_0.
Proof.
  apply passes_T'b_spec; [unfold device_ok; simpl; lia|apply mixed_obeys|simpl; auto|].
  vm_compute. reflexivity.
Qed.
(* (T') accepts the chip with the server, as it relies on the one beside it. *)
Example serving_rejected_by_T :
  load_fits (p_rs (proc serving_device serving_member_0))
    (p_g (proc serving_device serving_member_0)) = true /\
  ~ passes_T serving_device serving_member_0.
Proof. split; [vm_compute; reflexivity|]. reject 115. Qed.
Example serving_accepted_by_T' : passes_T' serving_device serving_member_0.
Proof.
  apply passes_T'b_spec; [unfold device_ok; simpl; lia|apply serving_obeys|simpl; auto|].
  vm_compute. reflexivity.
Qed.

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

(* So all processors of these devices keep their promises. *)
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
Example beside_promises : forall m, In m (y_members beside_device) ->
  promises_kept (proc beside_device m) (mb_X m).
Proof.
  apply theorem_3; [unfold device_ok; simpl; lia|apply beside_obeys|apply beside_obeys|].
  intros m [<-|[]]. left. by_decision beside_device beside_member beside_obeys.
Qed.
Example serving_promises : forall m, In m (y_members serving_device) ->
  promises_kept (proc serving_device m) (mb_X m).
Proof.
  apply theorem_3; [unfold device_ok; simpl; lia|apply serving_obeys|apply serving_obeys|].
  intros m [<-|[<-|[<-|[]]]].
  - right. split; [reflexivity|apply serving_accepted_by_T'].
  - left. by_decision serving_device serving_member_1 serving_obeys.
  - left. by_decision serving_device serving_member_2 serving_obeys.
Qed.
(* In (27) it is the second term that counts, as the cluster has the channel for itself. *)
Example beside_cost :
  g_C (p_g (proc beside_device beside_member)) = 2 * 2 + (3 - 2) * 1 + 2 * 3 + 1 /\
  2 * 2 + (3 - 2) * 1 < 2 * 3.
Proof. vm_compute. split; reflexivity. Qed.

(* What is in them: transfers that wait, passes, copies, void jobs. *)
Definition waiting (h : channel) : Z :=
  suml (fun t => ind (tr_asked t <? tr_granted t)) (ch_transfers h).
Example two_has : 1 <= waiting two_channel_0 /\ 1 <= acts two_trace_1 true is_erase /\
  1 <= acts two_trace_1 true is_copy /\ 1 <= acts two_trace_1 true is_void.
Proof. vm_compute. repeat split; discriminate. Qed.
Example mixed_has : 1 <= waiting mixed_channel_0 /\ 1 <= acts mixed_trace_1 true is_erase /\
  1 <= acts mixed_trace_1 true is_copy /\ 1 <= acts mixed_trace_1 true is_void.
Proof. vm_compute. repeat split; discriminate. Qed.
(* A pass of the server's, its pages, and a page that a background job writes. *)
Definition programs (X : trace) (c : nat -> bool) : Z :=
  suml (fun s => ind (c (s_job s) && is_prog (s_act s))) (x_steps X).
Example serving_has : 1 <= waiting serving_channel_0 /\
  1 <= acts serving_trace_0 false is_erase /\ 1 <= acts serving_trace_0 false is_copy /\
  1 <= programs serving_trace_0 (is_srv serving_trace_0) /\
  1 <= acts serving_trace_1 true is_void /\ 1 <= acts serving_trace_2 true is_erase /\
  1 <= programs serving_trace_2 (fun m => negb (real_time serving_trace_2 m)).
Proof. vm_compute. repeat split; discriminate. Qed.
