(* Section 2.6, closing the circle: Lemma 2 needs deadlines and cheap victims, Lemma 3 deadlines,
   Lemma 4 pages and cheap passes. By induction on the instant there is no first bad one. Then
   Theorems S and D, whose processors are instances of one theory, and Lemma 20. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace Reserve Costs Server Edf.
Import ListNotations.
Open Scope Z_scope.

(* No deadline of a request or GC job is missed; no victim is too dear; f >= b >= 0 at the end of
   every instant; every step that takes time finds the pages that it programs. *)
Definition promises_kept (P : processor) (X : trace) : Prop :=
  (forall m, (m < length (x_jobs X))%nat -> real_time X m = true ->
     j_due (jb X m) <= x_end X -> finished (x_steps X) m (j_due (jb X m)) = true) /\
  (forall l s r val, x_steps X = l ++ s :: r -> s_act s = APick val -> s_st s <= x_end X ->
     val <= p_v P) /\
  (forall t, t <= x_end X -> 0 <= pending P X t <= free_pages P X t) /\
  (forall l s r, x_steps X = l ++ s :: r -> s_st s <= x_end X ->
     drawn s <= z_f (run P X l) \/ s_en s = s_st s).

Section Closing.
  Variable P : processor.
  Variable X : trace.
  Hypothesis ok : parameters_ok P.
  Hypothesis rules : obeys P X.

  Let n := length (x_jobs X).

  Lemma due_after_release : forall m, (m < n)%nat -> real_time X m = true ->
    1 <= j_due (jb X m).
  Proof.
    intros m Hm Hr. pose proof (released P X rules m Hm) as H0.
    unfold real_time, is_request, is_gc in Hr.
    destruct (j_class (jb X m)) as [i|k|i|] eqn:Ec; try discriminate.
    - pose proof (sporadic P X rules m i Hm Ec) as [Hi Hsp].
      assert (Hin : In (rq P i) (p_rs P)) by (apply nth_In; assumption).
      pose proof (ok_requests P ok _ Hin) as Hok. unfold request_ok in Hok. lia.
    - destruct (R1_released P X rules m k Hm Ec) as [_ [_ Hd]].
      pose proof (ok_collection P ok) as Hg. unfold collection_ok in Hg. lia.
  Qed.

  (* Nothing happens before time 0. *)
  Lemma before_time_0 : forall t, t < 0 -> in_time_up_to X t /\ picks_up_to P X t.
  Proof.
    intros t Ht. split.
    - intros m Hm Hr Hd. pose proof (due_after_release m Hm Hr). lia.
    - intros l s r val Hs _ Hst. pose proof (step_order P X rules l s r Hs) as [Ho _]. lia.
  Qed.

  (* Lemma 3 at the instant k: while no deadline is missed, no victim is too dear. *)
  Lemma picks_at_instant : forall k, in_time_up_to X k -> picks_up_to P X (k - 1) ->
    picks_up_to P X k.
  Proof.
    intros k Hin IH2 l s r val Hs Hact Hst.
    destruct (Z.le_gt_cases (s_st s) (k - 1)) as [Hle|Hgt]; [apply (IH2 l s r val Hs Hact Hle)|].
    apply (victims_are_cheap P X ok rules l s r val Hs Hact).
    apply requests_of_in_time. intros m Hm Hr Hd. apply Hin; auto. lia.
  Qed.

  (* Where no instant is bad the promises are kept. *)
  Lemma kept_at_all_instants :
    (forall k : nat, Z.of_nat k - 1 <= x_end X ->
       in_time_up_to X (Z.of_nat k - 1) /\ picks_up_to P X (Z.of_nat k - 1)) ->
    promises_kept P X.
  Proof.
    intros Hk.
    assert (Hall : forall t, t <= x_end X -> in_time_up_to X t /\ picks_up_to P X t).
    { intros t Ht. destruct (Z.le_gt_cases 0 t) as [H0|H0]; [|apply before_time_0; assumption].
      replace t with (Z.of_nat (Z.to_nat (t + 1)) - 1) by lia. apply Hk. lia. }
    split; [|split; [|split]].
    - intros m Hm Hr Hd. apply (Hall (j_due (jb X m)) Hd); auto. lia.
    - intros l s r val Hs Hact Hst. apply (proj2 (Hall (s_st s) Hst) l s r val Hs Hact). lia.
    - intros t Ht. destruct (Hall t Ht) as [H1 H2].
      destruct (lemma_2 P X ok rules t Ht (gc_of_in_time X t H1) H2). lia.
    - intros l s r Hs Hst. destruct (Hall (s_st s) Hst) as [H1 H2].
      apply (pages_suffice P X ok rules l s r Hs Hst (gc_of_in_time X _ H1) H2).
  Qed.

  Hypothesis T_holds : demand_test (p_rs P) (p_g P).

  (* There is no first bad instant. *)
  Lemma no_bad_instant : forall k : nat, Z.of_nat k - 1 <= x_end X ->
    in_time_up_to X (Z.of_nat k - 1) /\ picks_up_to P X (Z.of_nat k - 1).
  Proof.
    induction k as [|k IH]; intros Hk; [apply before_time_0; lia|].
    destruct IH as [IH1 IH2]; [lia|].
    replace (Z.of_nat (S k) - 1) with (Z.of_nat k) in * by lia.
    assert (Hin : in_time_up_to X (Z.of_nat k)).
    { intros m Hm Hr Hd.
      destruct (Z.le_gt_cases (j_due (jb X m)) (Z.of_nat k - 1)) as [Hle|Hgt];
        [apply IH1; assumption|].
      assert (Heq : j_due (jb X m) = Z.of_nat k) by lia.
      rewrite Heq. apply (lemma_4 P X ok rules (Z.of_nat k) Hk T_holds IH2 m Hm Hr Heq). }
    split; [assumption|]. apply picks_at_instant; assumption.
  Qed.

  (* The circle is closed. *)
  Theorem closing : promises_kept P X.
  Proof. apply kept_at_all_instants. apply no_bad_instant. Qed.
End Closing.

(* The device: (3) and (4). *)
Record device := Device { t_r : Z; t_w : Z; t_e : Z; t_d : Z; m_c : Z }.
Definition c_r (d : device) : Z := t_r d + m_c d * t_d d.
Definition c_w (d : device) : Z := t_w d + m_c d * t_d d.
Definition device_ok (d : device) : Prop :=
  1 <= t_r d /\ 1 <= t_w d /\ 1 <= t_e d /\ 0 <= t_d d /\ 1 <= m_c d.

(* A task's request on the processor: whether it writes, its pages there at most, T, D, J. *)
Record demanded := Demanded { w_writes : bool; w_pages : Z; w_T : Z; w_D : Z; w_J : Z }.
Definition demanded_ok (w : demanded) : Prop :=
  1 <= w_pages w /\ 0 < w_T w /\ 0 <= w_J w /\ w_J w < w_D w /\ w_J w < w_T w.

(* What is stated of garbage collection, and of the server. *)
Record stated := Stated {
  e_Dg : Z; e_alpha : Z; e_H : Z; e_v : Z; e_us : Z; e_server : bool; e_served : list served
}.
Definition stated_ok (e : stated) : Prop :=
  1 <= e_Dg e /\ 1 <= e_alpha e /\ 0 <= e_v e /\ 0 <= e_us e <= 1000 /\
  (e_server e = true -> 0 < e_us e) /\
  (forall j, In j (e_served e) -> 0 <= sv_a j /\ 0 <= sv_r j /\ 0 <= sv_w j).

(* (20) and (21). *)
Definition stripe_request (d : device) (w : demanded) : request :=
  let c := if w_writes w then c_w d else c_r d in
  Request (w_pages w * c) (w_T w) (w_D w) (w_J w) c (if w_writes w then w_pages w else 0).

(* (22) and (23); q_s is the longest step there is, 0 without a server and background jobs. *)
Definition stripe (d : device) (rs : list demanded) (e : stated) (others : bool) (N Pages Lam : Z)
  : processor :=
  let cb := t_r d + t_w d in
  Processor (map (stripe_request d) rs)
    (Collection (e_Dg e) (e_alpha e) (e_v e * cb + t_e d)
       (if e_v e =? 0 then t_e d else Z.max (t_e d) cb) (e_us e)
       (if e_server e || others then Z.max (Z.max (c_r d) (c_w d)) (Z.max (t_e d) cb) else 0))
    1 Pages N Lam 0 0 0 0 cb (t_e d) (e_H e) (e_v e) (e_server e) (c_r d) (c_w d) (e_served e).

(* (25) to (28); cr' is c_r' of (29). *)
Definition superblock_request (d : device) (s cr' : Z) (w : demanded) : request :=
  if w_writes w
  then Request (cdiv (w_pages w) s * c_w d) (w_T w) (w_D w) (w_J w) (c_w d) (w_pages w)
  else Request (w_pages w * cr') (w_T w) (w_D w) (w_J w) cr' 0.

(* What n GC reads take, that read so many pages in all. *)
Definition superblock_reads (d : device) (cr' n pages : Z) : Z :=
  Z.min (n * c_r d) (n * cr' + (pages - n) * t_d d).

Definition superblock (d : device) (s cr' : Z) (rs : list demanded) (e : stated) (others : bool)
  (N Pages Lam : Z) : processor :=
  Processor (map (superblock_request d s cr') rs)
    (Collection (e_Dg e) (e_alpha e)
       (superblock_reads d cr' (Z.min (e_v e) Pages) (e_v e) + cdiv (e_v e) s * c_w d + t_e d)
       (if e_v e =? 0 then t_e d else Z.max (t_e d) (Z.max (c_r d) (c_w d))) (e_us e)
       (if e_server e || others then Z.max (t_e d) (Z.max (c_r d) (c_w d)) else 0))
    s (s * Pages) N Lam Pages (c_r d) cr' (t_d d) (c_w d) (t_e d) (e_H e) (e_v e) (e_server e)
    (c_r d) (c_w d) (e_served e).

(* (C1) to (C4) of Section 8. *)
Definition certificate_ok (P : processor) : Prop :=
  g_alpha (p_g P) + p_v P <= p_PP P /\
  within_deadline P + g_alpha (p_g P) + p_v P - 1 + server_reserve P <= p_H P /\
  F_of P < p_N P /\ p_Lam P / (p_N P - F_of P) <= p_v P.

Lemma stripe_ok : forall d rs e o N Pages Lam,
  device_ok d -> (forall w, In w rs -> demanded_ok w) -> stated_ok e -> 1 <= Pages ->
  certificate_ok (stripe d rs e o N Pages Lam) ->
  parameters_ok (stripe d rs e o N Pages Lam).
Proof.
  intros d rs e o N Pages Lam Hd Hrs He HP [H1 [H2 [H3 H4]]].
  unfold device_ok in Hd. unfold stated_ok in He.
  assert (Hcr : 1 <= c_r d) by (unfold c_r; nia). assert (Hcw : 1 <= c_w d) by (unfold c_w; nia).
  constructor; try assumption; simpl in *.
  - intros r Hr. apply in_map_iff in Hr. destruct Hr as [w [<- Hw]]. specialize (Hrs w Hw).
    unfold demanded_ok in Hrs. unfold request_ok, stripe_request; simpl.
    destruct (w_writes w); nia.
  - unfold collection_ok; simpl.
    assert (0 <= e_v e * (t_r d + t_w d)) by nia.
    destruct (Z.eqb_spec (e_v e) 0); destruct (e_server e || o); nia.
  - lia.
  - lia.
  - rewrite Z.min_r by lia. unfold reads_cost; simpl. unfold cdiv. rewrite Z.div_1_r.
    replace (e_v e + 1 - 1) with (e_v e) by lia. lia.
  - destruct (Z.eqb_spec (e_v e) 0); split; try lia; split; intros; lia.
  - intros Hs. rewrite Hs. simpl. split; [apply He; assumption|]. lia.
  - intros j Hj. apply He. assumption.
Qed.

Lemma superblock_ok : forall d s cr' rs e o N Pages Lam,
  device_ok d -> 1 <= s -> t_r d + t_d d <= cr' ->
  (forall w, In w rs -> demanded_ok w) -> stated_ok e -> 1 <= Pages ->
  certificate_ok (superblock d s cr' rs e o N Pages Lam) ->
  parameters_ok (superblock d s cr' rs e o N Pages Lam).
Proof.
  intros d s cr' rs e o N Pages Lam Hd Hs1 Hcr' Hrs He HP [H1 [H2 [H3 H4]]].
  unfold device_ok in Hd. unfold stated_ok in He.
  assert (Hcr : 1 <= c_r d) by (unfold c_r; nia). assert (Hcw : 1 <= c_w d) by (unfold c_w; nia).
  constructor; try assumption; simpl in *.
  - intros r Hr. apply in_map_iff in Hr. destruct Hr as [w [<- Hw]]. specialize (Hrs w Hw).
    unfold demanded_ok in Hrs. unfold request_ok, superblock_request.
    assert (1 <= cr') by lia. assert (1 <= cdiv (w_pages w) s).
    { unfold cdiv. apply Z.div_le_lower_bound; lia. }
    destruct (w_writes w); simpl; nia.
  - unfold collection_ok; simpl.
    assert (0 <= superblock_reads d cr' (Z.min (e_v e) Pages) (e_v e))
      by (unfold superblock_reads; nia).
    assert (0 <= cdiv (e_v e) s) by (apply cdiv_nonneg; lia).
    assert (0 <= cdiv (e_v e) s * c_w d) by nia.
    destruct (Z.eqb_spec (e_v e) 0) as [E|E].
    + destruct (e_server e || o); lia.
    + assert (1 <= Z.min (e_v e) Pages) by lia.
      assert (Z.min (c_r d) cr' <= superblock_reads d cr' (Z.min (e_v e) Pages) (e_v e))
        by (unfold superblock_reads; nia).
      assert (c_r d <= cr' + c_w d) by (unfold c_r, c_w; lia).
      assert (1 <= cdiv (e_v e) s) by (unfold cdiv; apply Z.div_le_lower_bound; lia).
      assert (c_w d <= cdiv (e_v e) s * c_w d) by nia.
      destruct (e_server e || o); lia.
  - nia.
  - lia.
  - apply Z.le_refl.
  - destruct (Z.eqb_spec (e_v e) 0); split; try lia; split; intros; lia.
  - intros Hs. rewrite Hs. simpl. split; [apply He; assumption|]. lia.
  - intros j Hj. apply He. assumption.
Qed.

(* Theorem S: a chip of a static stripe. R1 to R5, S1, S2 and S4, V1 to V3 are `obeys`; the times of
   steps rest on Lemma 1 (S3). *)
Theorem theorem_S : forall d rs e o N Pages Lam X,
  device_ok d -> (forall w, In w rs -> demanded_ok w) -> stated_ok e -> 1 <= Pages ->
  let P := stripe d rs e o N Pages Lam in
  certificate_ok P ->                       (* (C1) to (C4) *)
  demand_test (p_rs P) (p_g P) ->           (* (T) *)
  obeys P X -> promises_kept P X.
Proof. intros. apply closing; try assumption. apply stripe_ok; assumption. Qed.

(* Theorem D: a superblock, without backfill. D1 is `obeys`; the times of steps rest on Lemma 1 (D2)
   and, for c_r', on (29). *)
Theorem theorem_D : forall d s cr' rs e o N Pages Lam X,
  device_ok d -> 1 <= s -> t_r d + t_d d <= cr' ->
  (forall w, In w rs -> demanded_ok w) -> stated_ok e -> 1 <= Pages ->
  let P := superblock d s cr' rs e o N Pages Lam in
  certificate_ok P ->
  demand_test (p_rs P) (p_g P) ->
  obeys P X -> promises_kept P X.
Proof. intros. apply closing; try assumption. apply superblock_ok; assumption. Qed.

(* Lemma 20: nothing asks that the numbers be those of Section 2.2, only (C1) to (C4). *)
Theorem lemma_20 : forall P X, parameters_ok P -> demand_test (p_rs P) (p_g P) -> obeys P X ->
  promises_kept P X.
Proof. intros. apply closing; assumption. Qed.

(* And the numbers of Section 2.2, (7) to (11), satisfy (C1) to (C4). *)
Theorem numbers_of_2_2 : forall P,
  let PP := p_PP P in
  let R := if p_server P then PP + p_s P - 1 else 0 in               (* (7) *)
  p_H P = within_deadline P + PP - 1 + R ->                          (* (8) *)
  F_of P < p_N P ->                                                  (* (9) *)
  p_v P = p_Lam P / (p_N P - F_of P) ->                              (* (10) *)
  g_alpha (p_g P) = PP - p_v P ->                                    (* (11) *)
  certificate_ok P.
Proof.
  intros P PP R H6 H7 H8 H9. unfold certificate_ok. split; [fold PP; lia|].
  split; [|split; [assumption|lia]].
  rewrite H6, H9. unfold server_reserve, R, PP. rewrite H9. fold PP.
  destruct (p_server P); lia.
Qed.

(* The decision as it is extracted suffices. *)
Theorem accepted_is_in_time : forall P X,
  parameters_ok P -> decide (p_rs P) (p_g P) = Accepted -> obeys P X -> promises_kept P X.
Proof.
  intros P X ok Hd rules. apply closing; [assumption|assumption|].
  pose proof (decide_correct (p_rs P) (p_g P) (ok_requests P ok) (ok_collection P ok)) as H.
  rewrite Hd in H. assumption.
Qed.
