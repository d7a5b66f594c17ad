(* Section 6: the device-level test (T'), and Theorem 3. A chip of a stripe is charged the base cost
   of its operations, and for each other chip of its channel the smaller of what it asks itself and
   what that chip asks. First one chip, in the interval [x, z] of Lemma 4; then the device, whose
   first miss is at z. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Bus Trace Reserve Costs Server Edf Closing
  Neighbours Device Frontier.
Import ListNotations.
Open Scope Z_scope.

(* The base cost of a page operation: its wait aside. *)
Definition base (d : device) (w : demanded) : Z :=
  (if w_writes w then t_w d else t_r d) + t_d d.

(* n(L) of (2). *)
Definition jobs_of (d : device) (w : demanded) (L : Z) : Z := due_jobs (stripe_request d w) L.

(* (33) *)
Definition n_i (d : device) (rs : list demanded) (L : Z) : Z :=
  suml (fun w => jobs_of d w L * w_pages w) rs.

(* (34) for a chip of a stripe; with deadlines ⌈(L + D)/T⌉ stands for ⌈L/T⌉ + 1. *)
Definition N_stripe (rs : list demanded) (L : Z) : Z :=
  suml (fun w => cdiv (L + w_D w) (w_T w) * w_pages w) rs.

(* (34) for a chip of a superblock of s chips: what its requests read and write, and P_j of (41). *)
Definition pages_read (w : demanded) : Z := if w_writes w then 0 else w_pages w.
Definition pages_written (w : demanded) : Z := if w_writes w then w_pages w else 0.
Definition P_j (rs : list demanded) (e : stated) (L : Z) : Z :=
  cdiv (suml (fun w => cdiv (L + e_Dg e + w_J w) (w_T w) * pages_written w) rs) (e_alpha e).
Definition N_superblock (rs : list demanded) (e : stated) (s Pages L : Z) : Z :=
  suml (fun w => cdiv (L + w_D w) (w_T w) * pages_read w) rs
  + P_j rs e L * Z.min (e_v e) Pages
  + cdiv (suml (fun w => cdiv (L + w_D w) (w_T w) * pages_written w) rs + P_j rs e L * e_v e) s.

(* The transfers of others that those of the chip at `place` wait for. N gives N_j(L) of the chip
   at each place; None is infinity. *)
Definition waited_for (d : device) (rs : list demanded) (chips : Z) (place : nat)
  (N : nat -> Z -> option Z) (L : Z) : Z :=
  sumn (fun c => if Nat.eqb c place then 0 else
    match N c L with
    | None => n_i d rs L
    | Some N_j => Z.min (n_i d rs L) N_j
    end) (Z.to_nat chips).

(* (35) *)
Definition dbf' (d : device) (rs : list demanded) (g : collection) (chips : Z) (place : nat)
  (N : nat -> Z -> option Z) (L : Z) : Z :=
  suml (fun w => jobs_of d w L * (w_pages w * base d w)) rs
  + t_d d * waited_for d rs chips place N L
  + due_passes (map (stripe_request d) rs) g L * g_C g.

(* (T') at one length. B is as in (14): a blocking page operation counts with its whole wait. *)
Definition fits' (d : device) (rs : list demanded) (g : collection) (chips : Z) (place : nat)
  (N : nat -> Z -> option Z) (L : Z) : Prop :=
  1000 * (dbf' d rs g chips place N L + blocking (map (stripe_request d) rs) g L) <= share g * L.

Definition device_test (d : device) (rs : list demanded) (g : collection) (chips : Z)
  (place : nat) (N : nat -> Z -> option Z) : Prop :=
  forall L, (exists x, In x (deadlines (map (stripe_request d) rs) g) /\ x <= L) ->
  fits' d rs g chips place N L.

(* (T) implies (T'), since min(n_i, N_j) <= n_i. *)
Lemma fits_implies_fits' : forall d rs g chips place N L, device_ok d ->
  (forall w, In w rs -> demanded_ok w) -> Z.of_nat place < chips -> chips <= m_c d ->
  fits (map (stripe_request d) rs) g L -> fits' d rs g chips place N L.
Proof.
  intros d rs g chips place N L Hd Hrs Hp Hc H. unfold fits', fits, dbf', dbf in *.
  assert (Hn : 0 <= n_i d rs L).
  { apply suml_nonneg. intros w Hw. pose proof (Hrs w Hw) as Hwd. unfold demanded_ok in Hwd.
    apply Z.mul_nonneg_nonneg; [|lia]. unfold jobs_of, due_jobs, window, stripe_request.
    simpl. destruct (Z.leb_spec (w_D w - w_J w) L); [|lia].
    assert (0 <= (L - (w_D w - w_J w)) / w_T w) by (apply Z.div_pos; lia). lia. }
  assert (Hd0 : 0 <= t_d d) by apply Hd.
  assert (Hwait : waited_for d rs chips place N L <= (m_c d - 1) * n_i d rs L).
  { apply Z.le_trans with ((chips - 1) * n_i d rs L); [|apply Z.mul_le_mono_nonneg_r; lia].
    unfold waited_for. apply Z.le_trans with
      (sumn (fun c => n_i d rs L * 1 + (if Nat.eqb c place then - n_i d rs L else 0))
        (Z.to_nat chips)).
    - apply sumn_le. intros c _. destruct (Nat.eqb c place); [lia|].
      destruct (N c L); lia.
    - rewrite sumn_add, sumn_mul.
      rewrite (sumn_single _ (fun c => if Nat.eqb c place then - n_i d rs L else 0) place).
      + rewrite Nat.eqb_refl.
        assert (Hone : forall k, sumn (fun _ => 1) k = Z.of_nat k)
          by (induction k; [reflexivity|cbn [sumn]; lia]).
        rewrite Hone. nia.
      + lia.
      + intros c _ Hne. destruct (Nat.eqb_spec c place); [contradiction|reflexivity]. }
  assert (Hreq : suml (fun r => due_jobs r L * r_C r) (map (stripe_request d) rs)
    = suml (fun w => jobs_of d w L * (w_pages w * base d w)) rs
      + (m_c d - 1) * t_d d * n_i d rs L).
  { rewrite suml_map. unfold n_i. rewrite <- suml_mul, <- suml_add. apply suml_ext. intros w _.
    unfold jobs_of, base. unfold stripe_request at 2. cbn [r_C]. unfold c_w, c_r.
    destruct (w_writes w); ring. }
  assert (t_d d * waited_for d rs chips place N L <= t_d d * ((m_c d - 1) * n_i d rs L))
    by (apply Z.mul_le_mono_nonneg_l; assumption).
  rewrite Hreq in H. nia.
Qed.

Theorem T_implies_T' : forall d rs g chips place N, device_ok d ->
  (forall w, In w rs -> demanded_ok w) -> Z.of_nat place < chips -> chips <= m_c d ->
  demand_test (map (stripe_request d) rs) g -> device_test d rs g chips place N.
Proof.
  intros d rs g chips place N Hd Hrs Hp Hc HT L HL. apply fits_implies_fits'; auto.
Qed.

(* Less known of the neighbours only charges more: so siblings may be charged in full, as Section 6
   does. *)
Theorem less_known : forall d rs g chips place N N', device_ok d ->
  (forall c L, N' c L = None \/ N' c L = N c L) ->
  device_test d rs g chips place N' -> device_test d rs g chips place N.
Proof.
  intros d rs g chips place N N' Hd HN HT L HL. specialize (HT L HL). unfold fits', dbf' in *.
  assert (Hw : waited_for d rs chips place N L <= waited_for d rs chips place N' L).
  { apply sumn_le. intros c _. destruct (Nat.eqb c place); [lia|].
    destruct (HN c L) as [->| ->]; [destruct (N c L); lia|lia]. }
  assert (t_d d * waited_for d rs chips place N L <= t_d d * waited_for d rs chips place N' L)
    by (apply Z.mul_le_mono_nonneg_l; [apply Hd|assumption]).
  lia.
Qed.

(* A sibling has the same requests, and so no less of them live than due: it is charged in full. *)
Lemma sibling : forall d rs L, device_ok d -> (forall w, In w rs -> demanded_ok w) ->
  0 <= L -> n_i d rs L <= N_stripe rs L.
Proof.
  intros d rs L Hd Hrs HL. apply suml_le. intros w Hw. specialize (Hrs w Hw).
  unfold demanded_ok in Hrs. apply Z.mul_le_mono_nonneg_r; [lia|].
  unfold jobs_of, due_jobs, window, stripe_request; simpl.
  destruct (Z.leb_spec (w_D w - w_J w) L) as [H|H]; [|apply cdiv_nonneg; lia].
  replace (L - (w_D w - w_J w)) with (L - (w_D w - w_J w) + 1 - 1) by lia.
  rewrite cdiv_floor by lia. apply cdiv_mono; lia.
Qed.

Section Chip.
  Variable d : device.
  Variable rs : list demanded.
  Variable P : processor.
  Variable X : trace.
  Variables h place : nat.              (* the chip: its channel, its place there *)
  Variable channels : list channel.
  Hypothesis times_known : device_ok d.
  Hypothesis requests : forall w, In w rs -> demanded_ok w.
  Hypothesis P_rs : p_rs P = map (stripe_request d) rs.
  Hypothesis ok : parameters_ok P.
  Hypothesis rules : obeys P X.
  Hypothesis join : joined d false [(h, place)] channels P X.

  Let H := ch channels h.
  Hypothesis S3 : S3_bus (t_d d) H.

  Let n := length (x_jobs X).
  Notation jb := (jb X).
  Notation steps := (x_steps X).

  Definition wq (i : nat) : demanded := nth i rs (Demanded false 0 1 0 0).

  Lemma request_is : forall i, (i < length (p_rs P))%nat ->
    rq P i = stripe_request d (wq i) /\ In (wq i) rs.
  Proof.
    intros i Hi. rewrite P_rs, map_length in Hi. split.
    - unfold rq, wq. rewrite P_rs. apply nth_error_nth. rewrite nth_error_map.
      rewrite (nth_error_nth' rs (Demanded false 0 1 0 0) Hi). reflexivity.
    - apply nth_In. assumption.
  Qed.

  Lemma base_positive : forall w, 1 <= base d w.
  Proof. intros w. unfold device_ok in *. unfold base. destruct (w_writes w); lia. Qed.

  (* A step of a request uses the bus. *)
  Lemma request_uses_bus : forall s, In s steps -> is_request X (s_job s) = true ->
    uses_bus false (s_act s) = true /\ takes_time (s_act s) = true /\ s_st s < s_en s.
  Proof.
    intros s Hs Hr. destruct (step_of_list P X rules s Hs) as [l [r [_ Hrule]]].
    unfold step_rule in Hrule. unfold is_request in Hr.
    destruct Hrule as [_ [_ [_ [_ [_ [_ [_ Hrule]]]]]]].
    destruct (j_class (jb (s_job s))); try discriminate.
    destruct Hrule as [Hl [[->|[k [-> _]]] _]]; simpl; repeat split; lia.
  Qed.

  Section Window.
    Variables x z : Z.
    Hypothesis window_known : 0 <= x < z.

    Let wk (k : nat) : Z := waits (asked_of H) (granted_of H) x z k.

    Lemma wk_nonneg : forall k, 0 <= wk k.
    Proof. intros k. unfold wk, waits. lia. Qed.

    (* Transfer k is that of step s. *)
    Definition match_ (s : step) (k : nat) : bool :=
      Nat.eqb (tr_place (tr H k)) place && (tr_start (tr H k) =? s_st s).

    Definition wait_of (s : step) : Z :=
      sumn (fun k => if match_ s k then wk k else 0) (number_of H).

    Lemma wait_nonneg : forall s, 0 <= wait_of s.
    Proof.
      intros s. apply sumn_nonneg. intros k _. pose proof (wk_nonneg k).
      destruct (match_ s k); lia.
    Qed.

    Lemma match_at : forall s k, (k < number_of H)%nat -> match_ s k = true ->
      at_chip [(h, place)] channels h place k /\ tr_start (tr H k) = s_st s.
    Proof.
      intros s k Hk Hm. unfold match_ in Hm. apply andb_true_iff in Hm. destruct Hm as [H1 H2].
      apply Nat.eqb_eq in H1. apply Z.eqb_eq in H2. split; [|assumption].
      split; [left; reflexivity|]. split; assumption.
    Qed.

    (* A step's part of [x, z], its base cost and its wait there. *)
    Lemma step_cost : forall s i, In s steps -> j_class (jb (s_job s)) = Req i ->
      (i < length (p_rs P))%nat -> s_st s < z -> x < s_en s ->
      Z.min (s_en s) z - Z.max (s_st s) x <= base d (wq i) + wait_of s /\
      (z < s_en s -> Z.min (s_en s) z - Z.max (s_st s) x < base d (wq i) + wait_of s).
    Proof.
      intros s i Hs Hc Hi Hst Hen.
      assert (Hr : is_request X (s_job s) = true) by (unfold is_request; rewrite Hc; reflexivity).
      destruct (request_uses_bus s Hs Hr) as [Hu [_ Hlen]].
      destruct (S4_asks _ _ _ _ _ _ join s Hs Hu) as [h' [c [k [Hk [Hk1 [Hp He]]]]]].
      pose proof Hk as [Hin [Hkn Hkp]]. destruct Hin as [Hin|[]]. injection Hin as <- <-.
      fold H in Hkn, Hkp, Hk1, Hp, He.
      assert (Hm : match_ s k = true).
      { unfold match_. rewrite Hkp, Nat.eqb_refl, Hk1, Z.eqb_refl. reflexivity. }
      assert (Hw : wk k <= wait_of s).
      { unfold wait_of.
        pose proof (sumn_term (number_of H) (fun k => if match_ s k then wk k else 0) k) as Ht.
        cbv beta in Ht. rewrite Hm in Ht. apply Ht; [|assumption].
        intros m _. pose proof (wk_nonneg m). destruct (match_ s m); lia. }
      destruct S3 as [Hbus Hturn].
      assert (Htd : 0 <= t_d d) by apply times_known.
      pose proof (times _ _ _ _ _ _ _ Hbus k Hkn) as Ht.
      pose proof (lemma_1 _ _ _ _ _ _ _ Hbus Htd Hturn k Hkn) as H1.
      assert (Hzero : t_d d = 0 -> granted_of H k = asked_of H k)
        by (intros E; rewrite E in H1; lia).
      unfold wk, waits, lo, hi in Hw. unfold asked_of, granted_of, over_of in *.
      unfold device_ok in times_known. clear H1.
      destruct (request_is i Hi) as [Hq Hwin]. specialize (requests _ Hwin).
      unfold demanded_ok in requests.
      pose proof (right_steps _ _ _ _ _ _ join s i Hs Hc) as Hright. rewrite Hq in Hright.
      unfold stripe_request in Hright. cbn [r_w] in Hright. unfold base, part_of, ends_with in *.
      destruct (w_writes (wq i)).
      - destruct (Z.eqb_spec (w_pages (wq i)) 0); [lia|].
        destruct (s_act s); try discriminate. lia.
      - simpl in Hright. rewrite Hright in *. lia.
    Qed.

    (* Steps that are charged: those of jobs released since x and due by z, and if `extra` the
       blocking one. *)
    Variable extra : bool.

    Let sel (m : nat) : bool := (x <=? j_rel (jb m)) && (j_due (jb m) <=? z) && is_request X m.
    Let inside (s : step) : bool := sel (s_job s) && (s_st s <? z).
    Let blocks (s : step) : bool :=
      extra && is_request X (s_job s) && ((s_st s <? x) && (x <? s_en s)).
    Let charged_ (s : step) : bool := inside s || blocks s.

    Lemma sel_real : forall m, sel m = true -> is_request X m = true /\ x <= j_rel (jb m) /\
      j_due (jb m) <= z.
    Proof.
      intros m Hm. unfold sel in Hm. apply andb_true_iff in Hm. destruct Hm as [Hm H1].
      apply andb_true_iff in Hm. destruct Hm as [H2 H3]. apply Z.leb_le in H2. apply Z.leb_le in H3.
      auto.
    Qed.

    Lemma charged_real : forall s, charged_ s = true -> is_request X (s_job s) = true.
    Proof.
      intros s Hs. unfold charged_, inside, blocks in Hs. apply orb_true_iff in Hs.
      destruct Hs as [Hs|Hs]; apply andb_true_iff in Hs; destruct Hs as [Hs _].
      - apply sel_real. assumption.
      - apply andb_true_iff in Hs. apply Hs.
    Qed.

    Let own (k : nat) : bool :=
      Nat.eqb (tr_place (tr H k)) place && existsb (fun s => charged_ s && match_ s k) steps.

    Lemma own_place : forall k, (k < number_of H)%nat -> own k = true ->
      place_of H k = Z.of_nat place.
    Proof.
      intros k _ Ho. unfold own in Ho. apply andb_true_iff in Ho. destruct Ho as [Ho _].
      apply Nat.eqb_eq in Ho. unfold place_of. rewrite Ho. reflexivity.
    Qed.

    (* One step only begins when the operation of a transfer does. *)
    Lemma one_step : forall k (v : Z), 0 <= v -> forall l r, steps = l ++ r ->
      suml (fun s => if charged_ s && match_ s k then v else 0) r
      <= if existsb (fun s => charged_ s && match_ s k) r then v else 0.
    Proof.
      intros k v Hv l r. revert l. induction r as [|s r IH]; intros l Hl; [simpl; lia|].
      simpl. destruct (charged_ s && match_ s k) eqn:E; simpl.
      - rewrite suml_zero; [lia|]. intros u Hu.
        destruct (charged_ u && match_ u k) eqn:E2; [exfalso|reflexivity].
        apply andb_true_iff in E. destruct E as [Es Em].
        apply andb_true_iff in E2. destruct E2 as [Eu En].
        unfold match_ in Em, En. apply andb_true_iff in Em. destruct Em as [_ Em].
        apply andb_true_iff in En. destruct En as [_ En].
        apply Z.eqb_eq in Em. apply Z.eqb_eq in En.
        pose proof (step_order P X rules l s r Hl) as [Ho [_ Ho3]]. specialize (Ho3 u Hu).
        assert (Hs : In s steps) by (rewrite Hl; apply in_or_app; right; left; reflexivity).
        destruct (request_uses_bus s Hs (charged_real s Es)) as [_ [_ Hlen]]. lia.
      - apply (IH (l ++ [s])). rewrite <- app_assoc. assumption.
    Qed.

    Lemma waits_of_charged :
      suml (fun s => if charged_ s then wait_of s else 0) steps
      <= sumn (fun k => if own k then wk k else 0) (number_of H).
    Proof.
      apply Z.le_trans with
        (suml (fun s => sumn (fun k => if charged_ s && match_ s k then wk k else 0) (number_of H))
          steps).
      - apply suml_le. intros s _. destruct (charged_ s); simpl.
        + unfold wait_of. lia.
        + apply sumn_nonneg. intros. lia.
      - rewrite suml_sumn_swap. apply sumn_le. intros k Hk.
        apply (Z.le_trans _ _ _ (one_step k (wk k) (wk_nonneg k) [] steps eq_refl)).
        unfold own. destruct (existsb (fun s => charged_ s && match_ s k) steps) eqn:E;
          [|rewrite andb_false_r; lia].
        apply existsb_exists in E. destruct E as [s [_ E]]. apply andb_true_iff in E.
        destruct E as [_ E]. unfold match_ in E. apply andb_true_iff in E. destruct E as [E _].
        rewrite E. simpl. lia.
    Qed.

    Lemma own_count : countn own (number_of H) <= suml (fun s => ind (charged_ s)) steps.
    Proof.
      apply Z.le_trans with
        (sumn (fun k => suml (fun s => ind (charged_ s && match_ s k)) steps) (number_of H)).
      - apply sumn_le. intros k Hk. unfold own, ind at 1.
        destruct (existsb (fun s => charged_ s && match_ s k) steps) eqn:E.
        + apply existsb_exists in E. destruct E as [s [Hs E]].
          pose proof (suml_term (fun s => ind (charged_ s && match_ s k)) steps s) as Ht.
          cbv beta in Ht. rewrite E in Ht. simpl in Ht.
          assert (1 <= suml (fun s => ind (charged_ s && match_ s k)) steps).
          { apply Ht; [|assumption]. intros u _. unfold ind.
            destruct (charged_ u && match_ u k); lia. }
          destruct (Nat.eqb (tr_place (tr H k)) place && true); lia.
        + rewrite andb_false_r. apply suml_nonneg. intros u _. unfold ind.
          destruct (charged_ u && match_ u k); lia.
      - rewrite <- suml_sumn_swap. apply suml_le. intros s Hs.
        destruct (charged_ s); simpl.
        + apply countn_le_one. intros k l Hk Hl Ek El.
          destruct (match_at s k Hk Ek) as [Ak Sk]. destruct (match_at s l Hl El) as [Al Sl].
          apply (S4_one _ _ _ _ _ _ join h place k l Ak Al). fold H. congruence.
        + rewrite sumn_zero; [unfold ind; lia|reflexivity].
    Qed.

    (* A request's job: base costs of its pages, and its waits. *)
    Definition own_wait (m : nat) : Z :=
      suml (fun s => if Nat.eqb (s_job s) m && (s_st s <? z) then wait_of s else 0) steps.

    Lemma parts_fit : forall m i, (m < n)%nat -> j_class (jb m) = Req i ->
      (i < length (p_rs P))%nat /\ j_parts (jb m) <= w_pages (wq i).
    Proof.
      intros m i Hm Hc. pose proof (sporadic P X rules m i Hm Hc) as [Hi Hsp].
      split; [assumption|]. destruct (request_is i Hi) as [Hq Hwin]. rewrite Hq in Hsp.
      specialize (requests _ Hwin). unfold demanded_ok in requests.
      unfold stripe_request in Hsp. cbn [r_C r_q r_D r_J r_w] in Hsp.
      assert (1 <= if w_writes (wq i) then c_w d else c_r d).
      { unfold device_ok in times_known. unfold c_w, c_r. destruct (w_writes (wq i)); nia. }
      nia.
    Qed.

    Lemma price : forall m i, (m < n)%nat -> j_class (jb m) = Req i -> x <= j_rel (jb m) ->
      executed X z m <= w_pages (wq i) * base d (wq i) + own_wait m /\
      (finished steps m z = false ->
       executed X z m < w_pages (wq i) * base d (wq i) + own_wait m).
    Proof.
      intros m i Hm Hc Hrel. destruct (executed_prefix P X rules z m) as [l [r [Hs [Hl ->]]]].
      destruct (parts_of_request P X rules l r m i Hs Hm Hc) as [H1 [H2 _]].
      destruct (parts_fit m i Hm Hc) as [Hi Hparts].
      pose proof (sporadic P X rules m i Hm Hc) as [_ Hsp].
      pose proof (base_positive (wq i)) as Hb.
      set (b := base d (wq i)) in *.
      set (body := fun s => if Nat.eqb (s_job s) m then Z.min (s_en s) z - s_st s else 0).
      set (top := fun s => b * ind (Nat.eqb (s_job s) m)
        + if Nat.eqb (s_job s) m && (s_st s <? z) then wait_of s else 0).
      assert (Htop : suml top l <= b * parts l m + own_wait m).
      { unfold top. rewrite suml_add, suml_mul. unfold parts.
        assert (suml (fun s => if Nat.eqb (s_job s) m && (s_st s <? z) then wait_of s else 0) l
          <= own_wait m); [|lia].
        unfold own_wait. rewrite Hs, suml_app.
        assert (0 <= suml (fun s => if Nat.eqb (s_job s) m && (s_st s <? z)
                                    then wait_of s else 0) r);
          [|lia].
        apply suml_nonneg. intros s _. pose proof (wait_nonneg s).
        destruct (Nat.eqb (s_job s) m && (s_st s <? z)); lia. }
      assert (Hstep : forall s, In s l -> s_job s = m ->
        Z.min (s_en s) z - s_st s <= b + wait_of s /\
        (z < s_en s -> Z.min (s_en s) z - s_st s < b + wait_of s)).
      { intros s Hx Hj.
        assert (Hin : In s steps) by (rewrite Hs; apply in_or_app; left; assumption).
        destruct (step_of_list P X rules s Hin) as [l1 [r1 [_ Hrule]]].
        unfold step_rule in Hrule. destruct Hrule as [_ [_ [_ [_ [Hr _]]]]]. rewrite Hj in Hr.
        assert (Hreq : is_request X (s_job s) = true)
          by (unfold is_request; rewrite Hj, Hc; reflexivity).
        destruct (request_uses_bus s Hin Hreq) as [_ [_ Hlen]].
        pose proof (step_cost s i Hin ltac:(rewrite Hj; assumption) Hi (Hl s Hx) ltac:(lia)) as Hc1.
        rewrite Z.max_l in Hc1 by lia. assumption. }
      assert (Hle : forall s, In s l -> body s <= top s).
      { intros s Hx. unfold body, top, ind.
        destruct (Nat.eqb_spec (s_job s) m) as [E|E]; simpl; [|lia].
        specialize (Hstep s Hx E). specialize (Hl s Hx).
        destruct (Z.ltb_spec (s_st s) z); [|lia]. lia. }
      assert (Hsum : suml body l <= suml top l) by (apply suml_le; assumption).
      split; [nia|]. intros Hf.
      destruct (Z.eq_dec (parts l m) (j_parts (jb m))) as [He|Hne]; [|nia].
      destruct (H2 He) as [s [Hx [Hx1 Hx2]]].
      assert (z < s_en s).
      { destruct (Z.le_gt_cases (s_en s) z) as [Hle2|]; [exfalso|assumption].
        assert (Hin2 : In s steps) by (rewrite Hs; apply in_or_app; left; assumption).
        rewrite (finished_intro steps m z s Hin2 Hx1 Hx2 Hle2) in Hf. discriminate. }
      assert (suml body l < suml top l).
      { apply (suml_lt _ _ l s); auto. unfold body, top, ind. rewrite Hx1, Nat.eqb_refl.
        destruct (Hstep s Hx Hx1) as [_ Hs2]. specialize (Hl s Hx). simpl.
        destruct (Z.ltb_spec (s_st s) z); [|lia]. specialize (Hs2 ltac:(assumption)). lia. }
      nia.
    Qed.

    (* The waits of all of them, and how many they are. *)
    Lemma blocks_once : forall l r, steps = l ++ r ->
      suml (fun s => ind (blocks s)) r <= ind extra.
    Proof.
      intros l r. revert l. induction r as [|s r IH]; intros l Hl;
        [unfold ind; destruct extra; simpl; lia|].
      simpl. destruct (blocks s) eqn:E; unfold ind at 1.
      - rewrite suml_zero.
        + unfold blocks in E. destruct extra; [unfold ind; lia|discriminate].
        + intros u Hu. unfold ind. destruct (blocks u) eqn:E2; [exfalso|reflexivity].
          unfold blocks in E, E2. apply andb_true_iff in E. destruct E as [_ E].
          apply andb_true_iff in E. destruct E as [_ E]. apply Z.ltb_lt in E.
          apply andb_true_iff in E2. destruct E2 as [_ E2].
          apply andb_true_iff in E2. destruct E2 as [E2 _]. apply Z.ltb_lt in E2.
          pose proof (step_order P X rules l s r Hl) as [_ [_ Ho3]]. specialize (Ho3 u Hu). lia.
      - apply (IH (l ++ [s])). rewrite <- app_assoc. assumption.
    Qed.

    Lemma job_in : forall s, In s steps -> (s_job s < n)%nat.
    Proof.
      intros s Hs. destruct (step_of_list P X rules s Hs) as [l [r [_ Hr]]]. apply Hr.
    Qed.

    Lemma inside_starts : forall s, In s steps -> inside s = true -> x <= s_st s.
    Proof.
      intros s Hs Hi. unfold inside in Hi. apply andb_true_iff in Hi. destruct Hi as [Hi _].
      apply sel_real in Hi. destruct (step_of_list P X rules s Hs) as [l [r [_ Hr]]].
      unfold step_rule in Hr. lia.
    Qed.

    Lemma waits_add_up :
      sumn (fun m => if sel m then own_wait m else 0) n
      + suml (fun s => if blocks s then wait_of s else 0) steps
      <= suml (fun s => if charged_ s then wait_of s else 0) steps.
    Proof.
      assert (Hkey : sumn (fun m => if sel m then own_wait m else 0) n
        = suml (fun s => if inside s then wait_of s else 0) steps).
      { rewrite (suml_by_key s_job _ steps n job_in). apply sumn_ext. intros m _.
        unfold own_wait. destruct (sel m) eqn:E.
        - apply suml_ext. intros s _. unfold inside.
          destruct (Nat.eqb_spec (s_job s) m) as [->|]; [rewrite E|]; reflexivity.
        - symmetry. apply suml_zero. intros s _. unfold inside.
          destruct (Nat.eqb_spec (s_job s) m) as [->|]; [rewrite E|]; reflexivity. }
      rewrite Hkey, <- suml_add. apply suml_le. intros s Hs. unfold charged_.
      pose proof (wait_nonneg s). pose proof (inside_starts s Hs) as Hst.
      destruct (inside s) eqn:Ei; destruct (blocks s) eqn:Eb; simpl; try lia.
      exfalso. specialize (Hst eq_refl). unfold blocks in Eb.
      apply andb_true_iff in Eb. destruct Eb as [_ Eb]. apply andb_true_iff in Eb.
      destruct Eb as [Eb _]. apply Z.ltb_lt in Eb. lia.
    Qed.

    Lemma count_adds_up : suml (fun s => ind (charged_ s)) steps
      <= sumn (fun m => if sel m
                        then w_pages (wq (match j_class (jb m) with Req i => i | _ => O end))
                        else 0) n + ind extra.
    Proof.
      apply Z.le_trans with
        (suml (fun s => ind (inside s) + ind (blocks s)) steps).
      - apply suml_le. intros s _. unfold charged_, ind. destruct (inside s); destruct (blocks s);
          simpl; lia.
      - rewrite suml_add. pose proof (blocks_once [] steps eq_refl) as Hb.
        enough (suml (fun s => ind (inside s)) steps
          <= sumn (fun m => if sel m
               then w_pages (wq (match j_class (jb m) with Req i => i | _ => O end)) else 0) n)
          by lia.
        rewrite (suml_by_key s_job _ steps n job_in). apply sumn_le. intros m Hm.
        destruct (sel m) eqn:E.
        + destruct (sel_real m E) as [Hr _]. unfold is_request in Hr.
          destruct (j_class (jb m)) as [i| | |] eqn:Ec; try discriminate.
          destruct (parts_fit m i Hm Ec) as [_ Hp].
          destruct (parts_of_request P X rules steps [] m i
            ltac:(rewrite app_nil_r; reflexivity) Hm Ec) as [Hp2 _].
          enough (suml (fun s => if Nat.eqb (s_job s) m then ind (inside s) else 0) steps
            <= parts steps m) by lia.
          apply suml_le. intros s _. unfold ind. destruct (Nat.eqb (s_job s) m); [|lia].
          destruct (inside s); lia.
        + rewrite suml_zero; [lia|]. intros s _. destruct (Nat.eqb_spec (s_job s) m) as [Ej|];
            [|reflexivity]. unfold inside. rewrite Ej, E. reflexivity.
    Qed.

    Variable N : nat -> Z -> option Z.
    Hypothesis theirs : forall c N_j, (c < Z.to_nat (ch_chips H))%nat -> c <> place ->
      N c (z - x) = Some N_j ->
      transfers_of (number_of H) (place_of H) (granted_of H) (over_of H) x z (Z.of_nat c) <= N_j.

    Lemma waits_bounded :
      suml (fun s => ind (charged_ s)) steps <= n_i d rs (z - x) ->
      suml (fun s => if charged_ s then wait_of s else 0) steps
      <= t_d d * waited_for d rs (ch_chips H) place N (z - x).
    Proof.
      intros Hn. apply (Z.le_trans _ _ _ waits_of_charged).
      destruct S3 as [Hbus Hturn]. assert (Htd : 0 <= t_d d) by apply times_known.
      apply (Z.le_trans _ _ _ (waits_within_window _ _ _ _ _ _ _ Hbus Htd Hturn x z own
        (Z.of_nat place) own_place)).
      apply Z.mul_le_mono_nonneg_l; [assumption|]. unfold waited_for. apply sumn_le. intros c Hc.
      pose proof own_count as Ho.
      destruct (Z.eqb_spec (Z.of_nat c) (Z.of_nat place)) as [He|He].
      - destruct (Nat.eqb_spec c place); lia.
      - destruct (Nat.eqb_spec c place) as [|Hne]; [lia|].
        destruct (N c (z - x)) as [N_j|] eqn:EN; [|lia].
        specialize (theirs c N_j Hc Hne EN). lia.
    Qed.
  End Window.

  (* Sums over the requests, by their numbers. *)
  Lemma by_numbers : forall f, suml f rs = sumn (fun i => f (wq i)) (length (p_rs P)).
  Proof.
    intros f. rewrite (suml_nth f (Demanded false 0 1 0 0)). rewrite P_rs, map_length. reflexivity.
  Qed.

  Section Late.
    Variable z : Z.
    Variable j : nat.
    Hypothesis j_in : (j < n)%nat.
    Hypothesis j_real : real_time X j = true.
    Hypothesis j_due_z : j_due (jb j) = z.
    Hypothesis j_late : finished steps j z = false.
    Hypothesis z_end : z <= x_end X.
    Hypothesis picks : picks_up_to P X (z - 1).
    Variable N : nat -> Z -> option Z.
    Hypothesis theirs : forall x c N_j, 0 <= x < z -> (c < Z.to_nat (ch_chips H))%nat ->
      c <> place -> N c (z - x) = Some N_j ->
      transfers_of (number_of H) (place_of H) (granted_of H) (over_of H) x z (Z.of_nat c) <= N_j.

    (* Theorem 3 for one late job: (T') fails. *)
    Theorem late_job_contradicts_T' : ~ device_test d rs (p_g P) (ch_chips H) place N.
    Proof.
      intros HT.
      destruct (busy_interval P X ok rules z j j_in j_real j_due_z j_late z_end)
        as [x [blk [Hx0 [Hxj [Hxz [Hbusy Hblk]]]]]].
      assert (Hw : 0 <= x < z) by (split; assumption).
      destruct (late_window P X ok rules z j j_in j_real j_due_z) as [w0 [Hd1 [Hd2 _]]].
      set (L := z - x) in *.
      assert (Hfit : fits' d rs (p_g P) (ch_chips H) place N L).
      { apply HT. exists w0. rewrite <- P_rs. split; [assumption|unfold L; lia]. }
      unfold fits', dbf', share in Hfit. rewrite <- P_rs in Hfit.
      set (k := length (p_rs P)).
      set (key := fun m => match j_class (jb m) with Req i => i | _ => O end).
      set (sel := fun m => (x <=? j_rel (jb m)) && (j_due (jb m) <=? z) && is_request X m).
      set (cnt := due_in X z x).
      assert (Hcnt : forall i, (i < k)%nat -> 0 <= cnt i <= jobs_of d (wq i) L /\
        1 <= w_pages (wq i) /\ 1 <= base d (wq i)).
      { intros i Hi. destruct (request_is i Hi) as [Hq Hwin].
        pose proof (requests _ Hwin) as Hwd. unfold demanded_ok in Hwd.
        split; [|split; [lia|apply base_positive]].
        split; [apply countn_nonneg|]. unfold jobs_of. rewrite <- Hq.
        apply (requests_due P X ok rules z x i Hi Hxz). }
      set (pb := fun i => w_pages (wq i) * base d (wq i)).
      (* what the jobs of the interval execute *)
      assert (Hexec : 1000 * sumn (fun m =>
          if (x <=? j_rel (jb m)) && (j_due (jb m) <=? z) then executed X z m else 0) n
        < 1000 * (sumn (fun i => pb i * cnt i) k
                  + sumn (fun m => if sel m then own_wait x z m else 0) n
                  + due_passes (p_rs P) (p_g P) L * g_C (p_g P))
          + g_us (p_g P) * L).
      { pose proof (demand_by_price P X ok rules z j j_in j_real j_due_z j_late z_end picks
          (fun m => pb (key m) + own_wait x z m) x Hx0 Hxz Hxj) as Hp.
        assert (Hc : forall m, (m < length (x_jobs X))%nat -> is_request X m = true ->
          x <= j_rel (jb m) -> j_due (jb m) <= z ->
          executed X z m <= pb (key m) + own_wait x z m /\
          (finished steps m z = false -> executed X z m < pb (key m) + own_wait x z m)).
        { intros m Hm Hr Hrel _. unfold is_request in Hr. unfold key, pb.
          destruct (j_class (jb m)) as [i| | |] eqn:Ec; try discriminate.
          apply (price x z Hw m i Hm Ec Hrel). }
        specialize (Hp Hc). clear Hc.
        assert (Hsplit : sumn (fun m => if sel m then pb (key m) + own_wait x z m else 0) n
          = sumn (fun m => if sel m then pb (key m) else 0) n
            + sumn (fun m => if sel m then own_wait x z m else 0) n).
        { rewrite <- sumn_add. apply sumn_ext. intros m _. destruct (sel m); lia. }
        change (1000 * sumn (fun m =>
            if (x <=? j_rel (jb m)) && (j_due (jb m) <=? z) then executed X z m else 0) n
          < 1000 * (sumn (fun m => if sel m then pb (key m) + own_wait x z m else 0) n
                    + due_passes (p_rs P) (p_g P) L * g_C (p_g P)) + g_us (p_g P) * L) in Hp.
        pose proof (by_request P X rules z j j_in j_due_z j_late z_end picks x pb) as Hb.
        change (sumn (fun m => if sel m then pb (key m) else 0) n
          <= sumn (fun i => pb i * cnt i) k) in Hb.
        lia. }
      (* how many operations they are *)
      assert (Hops : sumn (fun m => if sel m then w_pages (wq (key m)) else 0) n
        <= sumn (fun i => w_pages (wq i) * cnt i) k).
      { apply (by_request P X rules z j j_in j_due_z j_late z_end picks x
          (fun i => w_pages (wq i))). }
      assert (Hni : n_i d rs L = sumn (fun i => jobs_of d (wq i) L * w_pages (wq i)) k)
        by apply (by_numbers (fun w => jobs_of d w L * w_pages w)).
      rewrite (by_numbers (fun w => jobs_of d w L * (w_pages w * base d w))) in Hfit.
      fold k in Hfit.
      set (B := blocking (p_rs P) (p_g P) L) in *.
      assert (HB0 : 0 <= B).
      { unfold B, blocking.
        pose proof (maxl_nonneg (fun r => if L <? window r then r_q r else 0) (p_rs P)). lia. }
      set (waited := waited_for d rs (ch_chips H) place N L) in *.
      (* what blocks: in B, or in the place of an absent job *)
      assert (Hcases : blk <= B \/ exists s i, In s steps /\ s_st s < x /\ x < s_en s /\
        j_class (jb (s_job s)) = Req i /\ (i < k)%nat /\
        1 <= jobs_of d (wq i) L /\ cnt i = 0 /\ blk <= Z.min (s_en s) z - x).
      { destruct Hblk as [->|[l [s [r [Hs [Hst [Hen [Hlen [Hrel Hdue]]]]]]]]]; [left; lia|].
        destruct (blocking_step P X ok rules z j j_in picks x l s r Hs Hxz Hst Hen Hrel Hdue)
          as [Hb|[i [Ec [Hi [Hwi [Hlong H0]]]]]].
        - left. unfold B, L. lia.
        - right. exists s, i. fold L in Hwi.
          assert (Hin : In s steps) by (rewrite Hs; apply in_or_app; right; left; reflexivity).
          repeat split; try assumption.
          destruct (request_is i Hi) as [Hq Hwin]. rewrite Hq in Hwi.
          pose proof (requests _ Hwin) as Hwd. unfold demanded_ok in Hwd.
          unfold jobs_of, due_jobs. destruct (Z.leb_spec (window (stripe_request d (wq i))) L);
            [|lia].
          assert (0 <= (L - window (stripe_request d (wq i))) / r_T (stripe_request d (wq i)));
            [|lia].
          apply Z.div_pos; [lia|]. unfold stripe_request. simpl. lia. }
      set (requested :=
        sumn (fun i => jobs_of d (wq i) L * (w_pages (wq i) * base d (wq i))) k) in *.
      set (passes := due_passes (p_rs P) (p_g P) L * g_C (p_g P)) in *.
      set (execs := sumn (fun m =>
          if (x <=? j_rel (jb m)) && (j_due (jb m) <=? z) then executed X z m else 0) n) in *.
      change (L <= blk + execs) in Hbusy.
      destruct Hcases as [Hb|[s [i [Hs [Hst [Hen [Ec [Hi [Hj1 [H0 Hb]]]]]]]]]].
      - pose proof (count_adds_up x z false) as Hcount. change (ind false) with 0 in Hcount.
        rewrite Z.add_0_r in Hcount.
        assert (Hle : sumn (fun i => w_pages (wq i) * cnt i) k <= n_i d rs L).
        { rewrite Hni. apply sumn_le. intros i Hi. specialize (Hcnt i Hi).
          rewrite (Z.mul_comm (jobs_of _ _ _)). apply Z.mul_le_mono_nonneg_l; lia. }
        assert (Hpb : sumn (fun i => pb i * cnt i) k <= requested).
        { apply sumn_le. intros i Hi. specialize (Hcnt i Hi). unfold pb.
          rewrite (Z.mul_comm (jobs_of _ _ _)). apply Z.mul_le_mono_nonneg_l; nia. }
        pose proof (waits_bounded x z false N (fun c Nj => theirs x c Nj Hw)
          (Z.le_trans _ _ _ Hcount (Z.le_trans _ _ _ Hops Hle))) as Hwb.
        pose proof (waits_add_up x z false) as Hadd.
        set (bl := fun s => false && is_request X (s_job s) && ((s_st s <? x) && (x <? s_en s))).
        set (all := suml (fun s => if (sel (s_job s) && (s_st s <? z)) || bl s
                                   then wait_of x z s else 0) steps).
        change (all <= t_d d * waited) in Hwb.
        change (sumn (fun m => if sel m then own_wait x z m else 0) n
          + suml (fun s => if bl s then wait_of x z s else 0) steps <= all) in Hadd.
        assert (Hnone : 0 <= suml (fun s => if bl s then wait_of x z s else 0) steps).
        { apply suml_nonneg. intros u _. pose proof (wait_nonneg x z u). destruct (bl u); lia. }
        clear - Hexec Hbusy Hfit Hwb Hadd Hpb Hb Hnone. lia.
      - assert (Hr : is_request X (s_job s) = true) by (unfold is_request; rewrite Ec; reflexivity).
        assert (Hsz : s_st s < z) by lia.
        destruct (step_cost x z Hw s i Hs Ec Hi Hsz Hen) as [Hcost _].
        rewrite Z.max_r in Hcost by lia.
        pose proof (count_adds_up x z true) as Hcount. change (ind true) with 1 in Hcount.
        (* request i, whose jobs are absent, has room for one page *)
        assert (Hroom : forall f : nat -> Z, (forall m, (m < k)%nat -> 1 <= f m) ->
          sumn (fun m => f m * cnt m) k + f i <= sumn (fun m => jobs_of d (wq m) L * f m) k).
        { intros f Hf.
          assert (H1 : sumn (fun m => f m * cnt m + (if Nat.eqb m i then f i else 0)) k
            <= sumn (fun m => jobs_of d (wq m) L * f m) k).
          { apply sumn_le. intros m Hm. specialize (Hf m Hm). destruct (Hcnt m Hm) as [Hc1 _].
            destruct (Nat.eqb_spec m i) as [->|]; [rewrite H0|]; nia. }
          rewrite sumn_add in H1.
          rewrite (sumn_single k (fun m => if Nat.eqb m i then f i else 0) i Hi) in H1.
          - rewrite Nat.eqb_refl in H1. assumption.
          - intros m _ Hne. destruct (Nat.eqb_spec m i); [contradiction|reflexivity]. }
        assert (Hle : sumn (fun i => w_pages (wq i) * cnt i) k + 1 <= n_i d rs L).
        { rewrite Hni. pose proof (Hroom (fun m => w_pages (wq m))) as Hr1.
          destruct (Hcnt i Hi) as [_ [Hpi _]].
          specialize (Hr1 (fun m Hm => proj1 (proj2 (Hcnt m Hm)))). cbv beta in Hr1. lia. }
        assert (Hpb : sumn (fun i => pb i * cnt i) k + pb i <= requested).
        { apply (Hroom pb). intros m Hm. destruct (Hcnt m Hm) as [_ [Hm1 Hm2]]. unfold pb. nia. }
        assert (Hpi : base d (wq i) <= pb i).
        { destruct (Hcnt i Hi) as [_ [Hm1 Hm2]]. unfold pb. nia. }
        assert (Hn : suml (fun s => ind ((sel (s_job s) && (s_st s <? z))
            || (true && is_request X (s_job s) && ((s_st s <? x) && (x <? s_en s))))) steps
          <= n_i d rs L).
        { apply (Z.le_trans _ _ _ Hcount). unfold key, sel in Hops. lia. }
        pose proof (waits_bounded x z true N (fun c Nj => theirs x c Nj Hw) Hn) as Hwb.
        pose proof (waits_add_up x z true) as Hadd.
        set (bl := fun s => true && is_request X (s_job s) && ((s_st s <? x) && (x <? s_en s))).
        set (all := suml (fun s => if (sel (s_job s) && (s_st s <? z)) || bl s
                                   then wait_of x z s else 0) steps).
        change (all <= t_d d * waited) in Hwb.
        change (sumn (fun m => if sel m then own_wait x z m else 0) n
          + suml (fun s => if bl s then wait_of x z s else 0) steps <= all) in Hadd.
        assert (Hone : wait_of x z s <= suml (fun s => if bl s then wait_of x z s else 0) steps).
        { pose proof (suml_term (fun s => if bl s then wait_of x z s else 0) steps s) as Ht.
          cbv beta in Ht. replace (bl s) with true in Ht; [apply Ht; [|assumption]|].
          - intros u _. pose proof (wait_nonneg x z u). destruct (bl u); lia.
          - unfold bl. rewrite Hr. destruct (Z.ltb_spec (s_st s) x); [|lia].
            destruct (Z.ltb_spec x (s_en s)); [reflexivity|lia]. }
        clear - Hexec Hbusy Hfit Hwb Hadd Hpb Hb Hone Hcost Hpi HB0. lia.
    Qed.
  End Late.
End Chip.

(* (34): what the chip of a stripe without server and background jobs transfers in (x, z), while it
   is in time. *)
Theorem stripe_neighbour : forall d h c channels rs e N Pages Lam X x z,
  let P := stripe d rs e false N Pages Lam in
  device_ok d -> (forall w, In w rs -> demanded_ok w) -> parameters_ok P -> e_server e = false ->
  obeys P X -> joined d false [(h, c)] channels P X ->
  S3_bus (t_d d) (ch channels h) ->
  x < z -> in_time_up_to X (z - 1) ->
  let H := ch channels h in
  transfers_of (number_of H) (place_of H) (granted_of H) (over_of H) x z (Z.of_nat c)
  <= N_stripe rs (z - x).
Proof.
  intros d h c channels rs e N Pages Lam X x z P Hd Hrs ok He rules Hj [Hbus _] Hxz Hin H.
  assert (HN : N_j P (z - x) = N_stripe rs (z - x)).
  { unfold N_j, N_stripe, P. simpl. rewrite suml_map. apply suml_ext. intros w Hw.
    specialize (Hrs w Hw). unfold demanded_ok in Hrs. unfold stripe_request. simpl.
    f_equal. apply Z.div_mul. unfold device_ok in Hd. unfold c_w, c_r. destruct (w_writes w); nia. }
  rewrite <- HN.
  apply Z.le_trans with (live_steps X x z); [|apply transfers_live; assumption].
  unfold transfers_of, live_steps.
  apply (count_by_steps d false [(h, c)] channels P X h c Hj ltac:(left; reflexivity)).
  intros k Hk Ho. unfold occupies in Ho. apply andb_true_iff in Ho. destruct Ho as [Ho Ho3].
  apply andb_true_iff in Ho. destruct Ho as [Ho1 Ho2].
  apply Z.eqb_eq in Ho1. apply Z.ltb_lt in Ho2. apply Z.ltb_lt in Ho3.
  unfold place_of, granted_of, over_of in *.
  assert (Hp : tr_place (tr H k) = c) by lia. split; [assumption|].
  assert (Hat : at_chip [(h, c)] channels h c k).
  { split; [left; reflexivity|]. split; assumption. }
  destruct (S4_none_else _ _ _ _ _ _ Hj h c k Hat) as [s [Hs [Hu [Hst Hpt]]]].
  exists s. split; [assumption|]. split; [|assumption].
  fold H in Hpt, Hst.
  pose proof (times _ _ _ _ _ _ _ Hbus k Hk) as Ht.
  unfold asked_of, granted_of, over_of in Ht. fold H in Ht.
  assert (Htimes : s_st s < z /\ x < s_en s /\ (s_act s = ARead \/ exists k, s_act s = AProg k)).
  { unfold part_of in Hpt. destruct (s_act s) eqn:Ea; try discriminate;
      (split; [lia|split; [lia|]]); [left; reflexivity|right; exists n; reflexivity]. }
  destruct Htimes as [Hz [Hx Ha]].
  assert (Hr : is_request X (s_job s) = true).
  { destruct (step_of_list P X rules s Hs) as [l [r [_ Hrule]]]. unfold step_rule in Hrule.
    destruct Hrule as [Hm [_ [_ [_ [_ [_ [_ Hrule]]]]]]]. unfold is_request.
    destruct (j_class (jb X (s_job s))) as [i|g|j|] eqn:Ec; [reflexivity| | |].
    - exfalso. destruct Hrule as [_ Hrule]. destruct Ha as [Ha|[q Ha]]; rewrite Ha in Hrule;
        destruct Hrule as [Hrule _]; destruct (z_pass (run P X l)); contradiction.
    - exfalso. destruct (server_jobs P X rules _ j Hm Ec) as [Hsv _]. unfold P in Hsv.
      simpl in Hsv. congruence.
    - exfalso. destruct Hrule as [Hl _]. unfold P in Hl. simpl in Hl. rewrite He in Hl.
      simpl in Hl. lia. }
  rewrite Hr. destruct (Z.ltb_spec (s_st s) z); [|lia]. destruct (Z.ltb_spec x (s_en s)); [|lia].
  reflexivity.
Qed.
(* And the chip of a superblock. *)
Theorem superblock_neighbour : forall d chips h c channels cr' rs e N Pages Lam X x z,
  let s := Z.of_nat (length chips) in
  let P := superblock d s cr' rs e false N Pages Lam in
  1 <= cr' -> (forall w, In w rs -> demanded_ok w) -> parameters_ok P -> e_server e = false ->
  obeys P X -> joined d true chips channels P X -> In (h, c) chips ->
  frontier chips channels X ->
  S3_bus (t_d d) (ch channels h) ->
  x < z -> in_time_up_to X (z - 1) -> picks_up_to P X (z - 1) ->
  let H := ch channels h in
  transfers_of (number_of H) (place_of H) (granted_of H) (over_of H) x z (Z.of_nat c)
  <= N_superblock rs e s Pages (z - x).
Proof.
  intros d chips h c channels cr' rs e N Pages Lam X x z s P Hcr Hrs ok He rules Hj Hc Hf HS Hxz
    Hin Hp H.
  pose proof (superblock_transfers d chips channels P X h c ok rules Hj Hc Hf He) as Hs.
  assert (Hqs : g_qs (p_g P) = 0) by (unfold P; simpl; rewrite He; reflexivity).
  specialize (Hs Hqs HS x z Hxz Hin Hp). fold H in Hs.
  assert (HP : passes_live P (z - x) = P_j rs e (z - x)).
  { unfold passes_live, P_j, P. simpl. rewrite suml_map. f_equal. apply suml_ext. intros w _.
    unfold superblock_request, pages_written. destruct (w_writes w); reflexivity. }
  assert (Hr : suml (fun r => cdiv (z - x + r_D r) (r_T r) *
      (if r_w r =? 0 then r_C r / r_q r else 0)) (p_rs P)
    = suml (fun w => cdiv (z - x + w_D w) (w_T w) * pages_read w) rs).
  { unfold P. simpl. rewrite suml_map. apply suml_ext. intros w Hw. specialize (Hrs w Hw).
    unfold demanded_ok in Hrs. unfold superblock_request, pages_read.
    destruct (w_writes w); cbn [r_w r_C r_q r_D r_T].
    - destruct (Z.eqb_spec (w_pages w) 0); lia.
    - simpl. f_equal. apply Z.div_mul. lia. }
  assert (Hw : suml (fun r => cdiv (z - x + r_D r) (r_T r) * r_w r) (p_rs P)
    = suml (fun w => cdiv (z - x + w_D w) (w_T w) * pages_written w) rs).
  { unfold P. simpl. rewrite suml_map. apply suml_ext. intros w _.
    unfold superblock_request, pages_written. destruct (w_writes w); reflexivity. }
  rewrite HP, Hr, Hw in Hs. unfold N_superblock. fold s in Hs.
  change (p_v P) with (e_v e) in Hs. change (p_P P) with Pages in Hs.
  rewrite (Z.mul_comm (P_j rs e (z - x))), (Z.mul_comm (P_j rs e (z - x)) (e_v e)). assumption.
Qed.

(* A processor of a device: a chip of a stripe, or a superblock. Its chips; m_c, the chips of the
   fullest of its channels, those without tasks not counted; c_r' (29), where it is a superblock;
   requests, collection and server as stated; whether it has background jobs; N, P, Lambda; its
   trace. Siblings are members like others: their N_j is not below n_i. *)
Record member := Member {
  mb_super : bool;
  mb_chips : list chip;
  mb_mc : Z;
  mb_cr : Z;
  mb_rs : list demanded;
  mb_e : stated;
  mb_others : bool;
  mb_N : Z; mb_Pages : Z; mb_Lam : Z;
  mb_X : trace
}.

(* A device at work, up to its end: times of operations (m_c aside), channels, processors. *)
Record system := System {
  y_d : device; y_channels : list channel; y_members : list member; y_end : Z
}.

Section System.
  Variable Y : system.

  Definition dev (m : member) : device :=
    Device (t_r (y_d Y)) (t_w (y_d Y)) (t_e (y_d Y)) (t_d (y_d Y)) (mb_mc m).

  Definition proc (m : member) : processor :=
    if mb_super m
    then superblock (dev m) (Z.of_nat (length (mb_chips m))) (mb_cr m) (mb_rs m) (mb_e m)
           (mb_others m) (mb_N m) (mb_Pages m) (mb_Lam m)
    else stripe (dev m) (mb_rs m) (mb_e m) (mb_others m) (mb_N m) (mb_Pages m) (mb_Lam m).

  Definition chan (h : nat) : channel := ch (y_channels Y) h.

  (* Whose chip it is; nobody's where no cluster with tasks, server or background jobs has it. *)
  Definition owner (h c : nat) : option member :=
    find (fun m => in_places (mb_chips m) h c) (y_members Y).
  Definition owned (h c : nat) : bool := match owner h c with Some _ => true | None => false end.

  (* m_c and o, chips without tasks left out. *)
  Definition chips_with_tasks (h : nat) : Z := countn (owned h) (Z.to_nat (ch_chips (chan h))).
  Definition chips_of_others (m : member) (h : nat) : Z :=
    countn (fun c => negb (in_places (mb_chips m) h c) && owned h c)
      (Z.to_nat (ch_chips (chan h))).

  (* (34), of the chip at place c of channel h. *)
  Definition N_j (h c : nat) (L : Z) : option Z :=
    match owner h c with
    | None => Some 0
    | Some m => if e_server (mb_e m) || mb_others m then None
                else if mb_super m
                then Some (N_superblock (mb_rs m) (mb_e m) (Z.of_nat (length (mb_chips m)))
                             (mb_Pages m) L)
                else Some (N_stripe (mb_rs m) L)
    end.

  (* What is stated of a processor, and the numbers that its test rests on. *)
  Record stated_well (m : member) : Prop := {
    sw_requests : forall w, In w (mb_rs m) -> demanded_ok w;
    sw_collection : stated_ok (mb_e m);
    sw_sizes : 1 <= mb_Pages m /\ 1 <= mb_mc m;
    sw_certificate : certificate_ok (proc m);                          (* (C1) to (C4) *)
    sw_m_c : forall h c, In (h, c) (mb_chips m) -> chips_with_tasks h <= mb_mc m;
    sw_chips : if mb_super m then mb_chips m <> [] /\ 1 <= mb_cr m
               else exists h c, mb_chips m = [(h, c)];
    sw_28 : mb_super m = true -> forall h c, In (h, c) (mb_chips m) ->
      t_r (y_d Y) + t_d (y_d Y) * (1 + chips_of_others m h) <= mb_cr m
  }.

  (* The rules, on all of the device. R1 to R5, S1 and S2, D1, V1 to V3, the times of steps aside;
     S4, on a chip and in a superblock; the rows of Section 4; S4, no transfer but of a processor;
     S3 and D2; and all traces are of one time. *)
  Record device_obeys : Prop := {
    R1_to_V3 : forall m, In m (y_members Y) -> obeys_untimed (proc m) (mb_X m);
    S4_all : forall m, In m (y_members Y) ->
      joined (dev m) (mb_super m) (mb_chips m) (y_channels Y) (proc m) (mb_X m);
    rows : forall m, In m (y_members Y) -> mb_super m = true ->
      frontier (mb_chips m) (y_channels Y) (mb_X m);                   (* Section 4 *)
    S4_silent : forall h k, (k < number_of (chan h))%nat ->
      owned h (tr_place (tr (chan h) k)) = true;
    S3_all : forall h, In h (y_channels Y) -> S3_bus (t_d (y_d Y)) h;
    one_end : forall m, In m (y_members Y) -> x_end (mb_X m) = y_end Y
  }.

  (* (T), or (T') on a chip of a stripe. *)
  Definition passes_T (m : member) : Prop := demand_test (p_rs (proc m)) (p_g (proc m)).
  Definition passes_T' (m : member) : Prop :=
    exists h c, mb_chips m = [(h, c)] /\
      device_test (dev m) (mb_rs m) (p_g (proc m)) (ch_chips (chan h)) c (N_j h).

  Hypothesis times_known : device_ok (y_d Y).
  Hypothesis statements : forall m, In m (y_members Y) -> stated_well m.
  Hypothesis rules : device_obeys.

  Lemma dev_ok : forall m, In m (y_members Y) -> device_ok (dev m).
  Proof.
    intros m Hm. pose proof (sw_sizes m (statements m Hm)). unfold device_ok in *. simpl. lia.
  Qed.

  Lemma uses_owned : forall h c, uses (chan h) c = true -> owned h c = true.
  Proof.
    intros h c Hu. unfold uses in Hu. apply existsb_exists in Hu. destruct Hu as [t [Ht He]].
    apply Nat.eqb_eq in He. destruct (In_nth _ _ (Transfer 0 0 0 0 0) Ht) as [k [Hk Hn]].
    pose proof (S4_silent rules h k Hk) as Ho. unfold tr in Ho. rewrite Hn in Ho. congruence.
  Qed.

  Lemma chan_S3 : forall h, S3_bus (t_d (y_d Y)) (chan h).
  Proof.
    intros h. unfold chan, ch.
    destruct (nth_in_or_default h (y_channels Y) (Channel 0 [])) as [Hh|Hh].
    - apply (S3_all rules). assumption.
    - rewrite Hh. split; [|left; intros a b _ Hb; unfold number_of in Hb; simpl in Hb; lia].
      constructor; unfold number_of; simpl; intros; lia.
  Qed.

  Lemma member_ok : forall m, In m (y_members Y) -> parameters_ok (proc m).
  Proof.
    intros m Hm. pose proof (statements m Hm) as [H1 H2 H3 H4 H5 H6 H7]. unfold proc in *.
    pose proof (dev_ok m Hm). destruct (mb_super m).
    - destruct H6 as [H6 H8]. destruct (mb_chips m) as [|[h c] l]; [contradiction|].
      apply superblock_ok; auto; [cbn [length]; lia| |lia].
      specialize (H7 eq_refl h c (or_introl eq_refl)). simpl.
      assert (0 <= t_d (y_d Y) * chips_of_others m h)
        by (apply Z.mul_nonneg_nonneg; [apply times_known|apply countn_nonneg]). lia.
    - apply stripe_ok; auto. lia.
  Qed.

  Lemma member_obeys : forall m, In m (y_members Y) -> obeys (proc m) (mb_X m).
  Proof.
    intros m Hm. pose proof (statements m Hm) as [H1 H2 H3 H4 H5 H6 H7].
    pose proof (R1_to_V3 rules m Hm) as HX. pose proof (S4_all rules m Hm) as Hj.
    pose proof (dev_ok m Hm) as Hd.
    assert (Hfull : forall h c, In (h, c) (mb_chips m) ->
      used (ch (y_channels Y) h) <= m_c (dev m)).
    { intros h c Hc. simpl. apply Z.le_trans with (2 := H5 h c Hc).
      apply countn_le. intros b _ Hb. apply uses_owned. assumption. }
    unfold proc in *. destruct (mb_super m).
    - apply (superblock_timed (dev m) (mb_chips m) (y_channels Y)); auto.
      + apply (S3_all rules).
      + intros h c Hc. simpl. specialize (H7 eq_refl h c Hc).
        assert (others_on (mb_chips m) (y_channels Y) h <= chips_of_others m h).
        { apply countn_le. intros b _ Hb. apply andb_true_iff in Hb. destruct Hb as [Hb1 Hb2].
          rewrite Hb1. apply uses_owned. assumption. }
        assert (0 <= t_d (y_d Y)) by apply times_known.
        assert (t_d (y_d Y) * (1 + others_on (mb_chips m) (y_channels Y) h)
          <= t_d (y_d Y) * (1 + chips_of_others m h)) by (apply Z.mul_le_mono_nonneg_l; lia).
        apply Z.le_trans with (2 := H7). apply Z.add_le_mono_l. assumption.
    - apply (stripe_timed (dev m) (mb_chips m) (y_channels Y)); auto. apply (S3_all rules).
  Qed.

  (* What the neighbours transfer in (x, z) while they are in time: (34). *)
  Lemma neighbours_bound : forall h c x z N, x < z ->
    (forall m, In m (y_members Y) ->
       in_time_up_to (mb_X m) (z - 1) /\ picks_up_to (proc m) (mb_X m) (z - 1)) ->
    N_j h c (z - x) = Some N ->
    transfers_of (number_of (chan h)) (place_of (chan h)) (granted_of (chan h)) (over_of (chan h))
      x z (Z.of_nat c) <= N.
  Proof.
    intros h c x z N Hxz Hin HN. unfold N_j in HN.
    destruct (owner h c) as [m|] eqn:Eo.
    - unfold owner in Eo. apply find_some in Eo. destruct Eo as [Hm Hc].
      apply in_places_spec in Hc. pose proof (statements m Hm) as Hst.
      destruct (e_server (mb_e m)) eqn:Ee; [discriminate|].
      destruct (mb_others m) eqn:Eb; [discriminate|]. cbn [orb] in HN.
      destruct (Hin m Hm) as [Hin1 Hin2].
      pose proof (sw_chips m Hst) as Hch. pose proof (member_ok m Hm) as Hok.
      pose proof (member_obeys m Hm) as Hob. pose proof (S4_all rules m Hm) as Hj.
      unfold proc in Hok, Hob, Hj, Hin2. destruct (mb_super m) eqn:Es;
        injection HN as <-; rewrite Eb in Hok, Hob, Hj, Hin2.
      + apply (superblock_neighbour (dev m) (mb_chips m) h c (y_channels Y) (mb_cr m) (mb_rs m)
          (mb_e m) (mb_N m) (mb_Pages m) (mb_Lam m) (mb_X m)); auto.
        * apply Hch.
        * apply (sw_requests m Hst).
        * apply (rows rules m Hm Es).
        * apply chan_S3.
      + destruct Hch as [h' [c' Hch]]. rewrite Hch in Hc, Hj.
        destruct Hc as [Hc|[]]. injection Hc as -> ->.
        apply (stripe_neighbour (dev m) h c (y_channels Y) (mb_rs m) (mb_e m) (mb_N m) (mb_Pages m)
          (mb_Lam m) (mb_X m)); auto.
        * apply dev_ok. assumption.
        * apply (sw_requests m Hst).
        * apply chan_S3.
    - injection HN as <-. unfold transfers_of.
      assert (E : countn (occupies (place_of (chan h)) (granted_of (chan h)) (over_of (chan h)) x z
        (Z.of_nat c)) (number_of (chan h)) = 0); [|lia].
      apply sumn_zero. intros k Hk. unfold ind.
      destruct (occupies _ _ _ _ _ _ k) eqn:E; [exfalso|reflexivity].
      unfold occupies in E. apply andb_true_iff in E. destruct E as [E _].
      apply andb_true_iff in E. destruct E as [E _]. apply Z.eqb_eq in E.
      pose proof (S4_silent rules h k Hk) as Ho. unfold place_of in E.
      assert (E2 : tr_place (tr (chan h) k) = c) by lia.
      unfold owned in Ho. rewrite E2, Eo in Ho. discriminate.
  Qed.

  Hypothesis tests : forall m, In m (y_members Y) ->
    passes_T m \/ (mb_super m = false /\ passes_T' m).

  (* There is no first bad instant of the device. *)
  Lemma no_bad_instant_of_the_device : forall k : nat, Z.of_nat k - 1 <= y_end Y ->
    forall m, In m (y_members Y) ->
    in_time_up_to (mb_X m) (Z.of_nat k - 1) /\ picks_up_to (proc m) (mb_X m) (Z.of_nat k - 1).
  Proof.
    induction k as [|k IH]; intros Hk m Hm;
      pose proof (member_ok m Hm) as Hok; pose proof (member_obeys m Hm) as Hob.
    - apply (before_time_0 (proc m) (mb_X m) Hok Hob). lia.
    - replace (Z.of_nat (S k) - 1) with (Z.of_nat k) in * by lia.
      assert (Hbefore : forall j, In j (y_members Y) ->
        in_time_up_to (mb_X j) (Z.of_nat k - 1) /\ picks_up_to (proc j) (mb_X j) (Z.of_nat k - 1)).
      { intros j Hj. apply (IH ltac:(lia) j Hj). }
      destruct (IH ltac:(lia) m Hm) as [IH1 IH2].
      assert (Hin : in_time_up_to (mb_X m) (Z.of_nat k)).
      { intros j Hj Hr Hd.
        destruct (Z.le_gt_cases (j_due (jb (mb_X m) j)) (Z.of_nat k - 1)) as [Hle|Hgt];
          [apply IH1; assumption|].
        assert (Heq : j_due (jb (mb_X m) j) = Z.of_nat k) by lia.
        assert (Hend : Z.of_nat k <= x_end (mb_X m)) by (rewrite (one_end rules m Hm); lia).
        rewrite Heq. destruct (tests m Hm) as [HT|[Hs HT]].
        - apply (lemma_4 (proc m) (mb_X m) Hok Hob (Z.of_nat k) Hend HT IH2 j Hj Hr Heq).
        - destruct HT as [h [c [Hch HT]]].
          destruct (finished (x_steps (mb_X m)) j (Z.of_nat k)) eqn:E; [reflexivity|exfalso].
          pose proof (S4_all rules m Hm) as Hjoin. rewrite Hs, Hch in Hjoin.
          pose proof (chan_S3 h) as HS3.
          revert HT. apply (late_job_contradicts_T' (dev m) (mb_rs m) (proc m) (mb_X m) h c
            (y_channels Y)) with (z := Z.of_nat k) (j := j); auto.
          + apply dev_ok. assumption.
          + apply (sw_requests m (statements m Hm)).
          + unfold proc. rewrite Hs. reflexivity.
          + intros x b N Hx _ _ HN.
            apply (neighbours_bound h b x (Z.of_nat k) N ltac:(lia) Hbefore HN). }
      split; [assumption|]. apply (picks_at_instant (proc m) (mb_X m) Hok Hob); assumption.
  Qed.

  (* Theorem 3. *)
  Theorem theorem_3 : forall m, In m (y_members Y) -> promises_kept (proc m) (mb_X m).
  Proof.
    intros m Hm. apply kept_at_all_instants.
    - apply member_ok. assumption.
    - apply member_obeys. assumption.
    - intros k Hk. apply no_bad_instant_of_the_device; [|assumption].
      rewrite (one_end rules m Hm) in Hk. assumption.
  Qed.
End System.
