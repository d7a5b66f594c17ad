(* Section 6: the two counts that Theorem 3 rests on. What chip i's transfers wait for chip j within
   a window is at most t_d times the smaller of their number and of j's transfers there; and j's
   transfers there are N_j(L) at most (34), j being a chip of a stripe. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Bus Trace Reserve Costs Closing Examples.
Import ListNotations.
Open Scope Z_scope.

Section Waits.
  Variable n : nat.
  Variable chip : nat -> Z.
  Variables asked granted over : nat -> Z.
  Variables m_c t_d : Z.
  Hypothesis rules : bus_obeys n chip asked granted over m_c t_d.
  Hypothesis times_known : 0 <= t_d.
  Hypothesis turns : S3_first_come n asked \/ S3_round_robin n chip asked over.

  Variables x z : Z.          (* the window *)
  Variable own : nat -> bool. (* the transfers considered, all of chip i *)
  Variable i : Z.
  Hypothesis own_chip : forall k, (k < n)%nat -> own k = true -> chip k = i.

  (* The part of a transfer's wait within the window. *)
  Definition lo (k : nat) : Z := Z.max (asked k) x.
  Definition hi (k : nat) : Z := Z.min (granted k) z.
  Definition waits (k : nat) : Z := Z.max 0 (hi k - lo k).

  (* The part of it that transfer l takes. *)
  Definition takes (k l : nat) : Z := Z.max 0 (Z.min (over l) (hi k) - Z.max (granted l) (lo k)).

  Definition occupies (j : Z) (l : nat) : bool :=
    (chip l =? j) && (granted l <? z) && (x <? over l).
  Definition transfers_of (j : Z) : Z := countn (occupies j) n.

  Lemma one_turn : S3_round_robin n chip asked over.
  Proof.
    destruct turns as [H|H]; [|assumption].
    apply (first_come_turns n chip asked granted over m_c t_d rules H).
  Qed.

  Lemma wait_is_taken : forall k, (k < n)%nat -> own k = true ->
    waits k <= sumn (fun l => if negb (chip l =? i) then takes k l else 0) n.
  Proof.
    intros k Hk Ho. unfold waits.
    pose proof (times n chip asked granted over m_c t_d rules k Hk) as Ht.
    destruct (Z.le_gt_cases (hi k) (lo k)) as [Hle|Hgt].
    - rewrite Z.max_l by lia. apply sumn_nonneg. intros l _. unfold takes.
      destruct (negb (chip l =? i)); lia.
    - rewrite Z.max_r by lia.
      pose proof (covered_time n granted over (lo k) (hi k - lo k) ltac:(lia)) as Hc.
      assert (Hcov : forall t, lo k <= t < lo k + (hi k - lo k) ->
        exists m, (m < n)%nat /\ granted m <= t < over m).
      { intros t Htt. apply (bus_not_idle n chip asked granted over m_c t_d rules k t Hk).
        unfold lo, hi in *. lia. }
      apply (Z.le_trans _ _ _ (Hc Hcov)). apply sumn_le. intros l Hl.
      replace (lo k + (hi k - lo k)) with (hi k) by lia.
      pose proof (times n chip asked granted over m_c t_d rules l Hl) as Htl.
      unfold takes. destruct (Z.eqb_spec (chip l) i) as [He|He]; simpl; [|lia].
      pose proof (own_chip k Hk Ho) as Hck.
      destruct (Nat.lt_trichotomy l k) as [Hlt|[->|Hlt]].
      + pose proof (one_outstanding n chip asked granted over m_c t_d rules l k Hlt Hk ltac:(lia)).
        unfold lo. lia.
      + unfold hi. lia.
      + pose proof (one_at_a_time n chip asked granted over m_c t_d rules k l Hlt Hl).
        unfold hi. lia.
  Qed.

  (* (a) One transfer of j for each of i's. *)
  Lemma one_of_each : forall j k, (k < n)%nat -> own k = true -> j <> i ->
    sumn (fun l => if chip l =? j then takes k l else 0) n <= t_d.
  Proof.
    intros j k Hk Ho Hj.
    set (sel := fun l => (chip l =? j) && (0 <? takes k l)).
    assert (Hle : sumn (fun l => if chip l =? j then takes k l else 0) n
      <= sumn (fun l => if sel l then t_d else 0) n).
    { apply sumn_le. intros l Hl. unfold sel. destruct (chip l =? j); simpl; [|lia].
      pose proof (times n chip asked granted over m_c t_d rules l Hl) as Htl.
      destruct (Z.ltb_spec 0 (takes k l)); [|lia]. unfold takes in *. lia. }
    assert (Hcnt : countn sel n <= 1).
    { apply countn_le_one. intros l m Hl Hm Hsl Hsm. unfold sel in Hsl, Hsm.
      apply andb_true_iff in Hsl. destruct Hsl as [Hl1 Hl2].
      apply andb_true_iff in Hsm. destruct Hsm as [Hm1 Hm2].
      apply Z.eqb_eq in Hl1. apply Z.eqb_eq in Hm1. apply Z.ltb_lt in Hl2. apply Z.ltb_lt in Hm2.
      unfold takes, lo, hi in Hl2, Hm2.
      pose proof (times n chip asked granted over m_c t_d rules l Hl) as Htl.
      pose proof (times n chip asked granted over m_c t_d rules m Hm) as Htm.
      assert (Hlk : (l < k)%nat).
      { destruct (Nat.lt_trichotomy l k) as [|[->|Hlt]]; [assumption|lia|].
        pose proof (one_at_a_time n chip asked granted over m_c t_d rules k l Hlt Hl).
        pose proof (times n chip asked granted over m_c t_d rules k Hk). lia. }
      assert (Hmk : (m < k)%nat).
      { destruct (Nat.lt_trichotomy m k) as [|[->|Hlt]]; [assumption|lia|].
        pose proof (one_at_a_time n chip asked granted over m_c t_d rules k m Hlt Hm).
        pose proof (times n chip asked granted over m_c t_d rules k Hk). lia. }
      destruct (Nat.lt_trichotomy l m) as [Hlt|[|Hlt]]; [exfalso|assumption|exfalso].
      - apply (one_turn k l m Hlt Hmk Hk ltac:(lia)). lia.
      - apply (one_turn k m l Hlt Hlk Hk ltac:(lia)). lia. }
    assert (Hm : sumn (fun l => if sel l then t_d else 0) n <= t_d * countn sel n)
      by (apply sumn_count_mul; intros; lia).
    nia.
  Qed.

  (* (b) Of one transfer of j's all waits of i together have its own length at most. *)
  Lemma one_for_all : forall l, (l < n)%nat ->
    sumn (fun k => if own k then takes k l else 0) n <= Z.max 0 (over l - granted l).
  Proof.
    intros l Hl.
    assert (H : forall m U, (m <= n)%nat ->
      (forall k, (k < m)%nat -> own k = true -> hi k <= U) ->
      sumn (fun k => if own k then takes k l else 0) m
      <= Z.max 0 (Z.min (over l) U - granted l)).
    { induction m as [|m IH]; intros U Hm HU; [simpl; lia|]. cbn [sumn].
      destruct (own m) eqn:Eo.
      - destruct (Z.le_gt_cases (takes m l) 0) as [Hz|Hp].
        + assert (Ht0 : takes m l = 0) by (unfold takes in *; lia).
          specialize (IH U ltac:(lia) ltac:(intros; apply HU; auto; lia)). lia.
        + specialize (IH (lo m) ltac:(lia)).
          assert (Hlo : forall k, (k < m)%nat -> own k = true -> hi k <= lo m).
          { intros k Hk Hok.
            pose proof (one_outstanding n chip asked granted over m_c t_d rules k m Hk ltac:(lia))
              as Hone.
            rewrite (own_chip k ltac:(lia) Hok), (own_chip m ltac:(lia) Eo) in Hone.
            pose proof (times n chip asked granted over m_c t_d rules k ltac:(lia)).
            specialize (Hone eq_refl). unfold hi, lo. lia. }
          specialize (IH Hlo). specialize (HU m ltac:(lia) Eo). unfold takes in *. lia.
      - specialize (IH U ltac:(lia) ltac:(intros; apply HU; auto; lia)). lia. }
    specialize (H n z ltac:(lia) ltac:(intros; unfold hi; lia)). lia.
  Qed.

  (* What i's transfers wait for chip j. *)
  Definition waits_for (j : Z) : Z :=
    sumn (fun k => if own k then sumn (fun l => if chip l =? j then takes k l else 0) n else 0) n.

  Lemma waits_for_own : forall j, j <> i -> waits_for j <= t_d * countn own n.
  Proof.
    intros j Hj. unfold waits_for.
    apply sumn_count_mul. intros k Hk Ho. apply one_of_each; assumption.
  Qed.

  Lemma waits_for_theirs : forall j, j <> i -> waits_for j <= t_d * transfers_of j.
  Proof.
    intros j Hj. unfold waits_for.
    assert (Hswap : sumn (fun k => if own k
        then sumn (fun l => if chip l =? j then takes k l else 0) n else 0) n
      = sumn (fun l => if chip l =? j
          then sumn (fun k => if own k then takes k l else 0) n else 0) n).
    { transitivity (sumn (fun k => sumn (fun l => if own k then if chip l =? j then takes k l else 0
        else 0) n) n).
      - apply sumn_ext. intros k _. destruct (own k); [reflexivity|].
        symmetry. apply sumn_zero. reflexivity.
      - rewrite (sumn_swap n n (fun l k => if own k then if chip l =? j then takes k l else 0 else 0)).
        apply sumn_ext. intros l _. destruct (chip l =? j).
        + reflexivity.
        + apply sumn_zero. intros k _. destruct (own k); reflexivity. }
    rewrite Hswap. unfold transfers_of.
    assert (Hle : sumn (fun l => if chip l =? j
        then sumn (fun k => if own k then takes k l else 0) n else 0) n
      <= sumn (fun l => if occupies j l then t_d else 0) n).
    { apply sumn_le. intros l Hl. unfold occupies. destruct (chip l =? j); simpl; [|lia].
      pose proof (times n chip asked granted over m_c t_d rules l Hl) as Htl.
      destruct (Z.ltb_spec (granted l) z) as [H1|H1]; simpl.
      - destruct (Z.ltb_spec x (over l)) as [H2|H2].
        + pose proof (one_for_all l Hl). lia.
        + rewrite sumn_zero; [lia|]. intros k _. destruct (own k); [|reflexivity].
          unfold takes, lo. lia.
      - rewrite sumn_zero; [lia|]. intros k _. destruct (own k); [|reflexivity].
        unfold takes, hi. lia. }
    assert (Hm : sumn (fun l => if occupies j l then t_d else 0) n <= t_d * countn (occupies j) n)
      by (apply sumn_count_mul; intros; lia).
    lia.
  Qed.

  (* In Theorem 3: the time that they spend waiting within [x, z] is at most t_d times, for each
     other chip, the smaller of their number and of its transfers that occupy the bus in (x, z). *)
  Theorem waits_within_window :
    sumn (fun k => if own k then waits k else 0) n
    <= t_d * sumn (fun c => if Z.of_nat c =? i then 0
                            else Z.min (countn own n) (transfers_of (Z.of_nat c))) (Z.to_nat m_c).
  Proof.
    assert (Hw : sumn (fun k => if own k then waits k else 0) n
      <= sumn (fun c => if Z.of_nat c =? i then 0 else waits_for (Z.of_nat c)) (Z.to_nat m_c)).
    { transitivity (sumn (fun k => sumn (fun c => if own k then if Z.of_nat c =? i then 0 else
        sumn (fun l => if chip l =? Z.of_nat c then takes k l else 0) n else 0) (Z.to_nat m_c)) n).
      - apply sumn_le. intros k Hk. destruct (own k) eqn:Eo.
        2:{ rewrite sumn_zero; [lia|]. reflexivity. }
        apply (Z.le_trans _ _ _ (wait_is_taken k Hk Eo)).
        rewrite (sumn_by_class n (Z.to_nat m_c) (fun l => Z.to_nat (chip l))).
        2:{ intros l Hl _. pose proof (chips n chip asked granted over m_c t_d rules l Hl). lia. }
        apply sumn_le. intros c Hc. destruct (Z.eqb_spec (Z.of_nat c) i) as [He|He].
        + rewrite sumn_zero; [lia|]. intros l Hl.
          pose proof (chips n chip asked granted over m_c t_d rules l Hl).
          destruct (Z.eqb_spec (chip l) i); simpl; [reflexivity|].
          destruct (Nat.eqb_spec (Z.to_nat (chip l)) c); [lia|reflexivity].
        + apply sumn_le. intros l Hl.
          pose proof (chips n chip asked granted over m_c t_d rules l Hl).
          destruct (Nat.eqb_spec (Z.to_nat (chip l)) c).
          * destruct (Z.eqb_spec (chip l) (Z.of_nat c)); [|lia].
            destruct (negb (chip l =? i)); simpl; unfold takes; lia.
          * rewrite andb_false_r. destruct (chip l =? Z.of_nat c); unfold takes; lia.
      - rewrite (sumn_swap n (Z.to_nat m_c) (fun c k => if own k then if Z.of_nat c =? i then 0 else
          sumn (fun l => if chip l =? Z.of_nat c then takes k l else 0) n else 0)).
        apply sumn_le. intros c Hc. destruct (Z.of_nat c =? i).
        + rewrite sumn_zero; [lia|]. intros k _. destruct (own k); reflexivity.
        + unfold waits_for. lia. }
    rewrite <- sumn_mul. apply (Z.le_trans _ _ _ Hw). apply sumn_le. intros c Hc.
    destruct (Z.eqb_spec (Z.of_nat c) i) as [He|He]; [lia|].
    pose proof (waits_for_own (Z.of_nat c) He). pose proof (waits_for_theirs (Z.of_nat c) He).
    destruct (Z.min_spec (countn own n) (transfers_of (Z.of_nat c))) as [[_ ->]|[_ ->]]; assumption.
  Qed.
End Waits.

(* (34), j being a chip of a stripe, whose steps of requests make a transfer each: those that are
   under way at some time in (x, z). With deadlines ⌈(L + D)/T⌉ stands for ⌈L/T⌉ + 1. *)
Section Live.
  Variable P : processor.
  Variable X : trace.
  Hypothesis ok : parameters_ok P.
  Hypothesis rules : obeys P X.

  Let n := length (x_jobs X).
  Notation jb := (jb X).
  Notation rq := (rq P).
  Notation steps := (x_steps X).

  Definition N_j (L : Z) : Z :=
    suml (fun r => cdiv (L + r_D r) (r_T r) * (r_C r / r_q r)) (p_rs P).

  Definition live_steps (x z : Z) : Z :=
    suml (fun s => ind (is_request X (s_job s) && (s_st s <? z) && (x <? s_en s))) steps.

  (* A step under way at some time in (x, z). *)
  Definition live (x z : Z) (s : step) : bool := (s_st s <? z) && (x <? s_en s).

  Lemma live_spec : forall x z s, live x z s = true <-> s_st s < z /\ x < s_en s.
  Proof.
    intros x z s. unfold live. rewrite andb_true_iff, Z.ltb_lt, Z.ltb_lt. reflexivity.
  Qed.

  (* Its job, if it is of real-time, was released before z and is due after x. *)
  Lemma live_job : forall x z s, x < z -> in_time_up_to X (z - 1) -> In s steps ->
    live x z s = true -> real_time X (s_job s) = true ->
    (s_job s < n)%nat /\ j_rel (jb (s_job s)) < z /\ x < j_due (jb (s_job s)).
  Proof.
    intros x z s Hxz Hin Hs Hl Hr. apply live_spec in Hl. destruct Hl as [H1 H2].
    destruct (step_of_list P X rules s Hs) as [l [r [_ Hrule]]]. unfold step_rule in Hrule.
    destruct Hrule as [Hm [_ [_ [_ [Hrel _]]]]]. split; [assumption|]. split; [lia|].
    destruct (Z.lt_ge_cases x (j_due (jb (s_job s)))) as [|Hge]; [assumption|exfalso].
    assert (Hf : finished steps (s_job s) (j_due (jb (s_job s))) = true)
      by (apply Hin; [assumption|assumption|lia]).
    pose proof (not_finished_under_way P X rules s (j_due (jb (s_job s))) Hs ltac:(lia)) as Hn.
    congruence.
  Qed.

  Lemma job_number : forall s, In s steps -> (s_job s < n)%nat.
  Proof.
    intros s Hs. destruct (step_of_list P X rules s Hs) as [l [r [_ Hr]]]. apply Hr.
  Qed.

  (* What the live steps of requests count, where those of one job count `each` at most. *)
  Lemma live_requests : forall x z (f : step -> Z) (each : request -> Z), x < z ->
    in_time_up_to X (z - 1) ->
    (forall r, In r (p_rs P) -> 0 <= each r) ->
    (forall m i, (m < n)%nat -> j_class (jb m) = Req i ->
       suml (fun s => if Nat.eqb (s_job s) m then if live x z s then f s else 0 else 0) steps
       <= each (rq i)) ->
    suml (fun s => if is_request X (s_job s) && live x z s then f s else 0) steps
    <= suml (fun r => cdiv (z - x + r_D r) (r_T r) * each r) (p_rs P).
  Proof.
    intros x z f each Hxz Hin Heach Hjob.
    set (g := fun s => if is_request X (s_job s) && live x z s then f s else 0).
    rewrite (suml_by_key s_job g steps n job_number).
    set (alive := fun m => is_request X m && ((j_rel (jb m) <? z) && (x <? j_due (jb m)))).
    set (key := fun m => match j_class (jb m) with Req i => i | _ => O end).
    assert (Hm : forall m, (m < n)%nat ->
      suml (fun s => if Nat.eqb (s_job s) m then g s else 0) steps
      <= if alive m then each (rq (key m)) else 0).
    { intros m Hm. destruct (alive m) eqn:El.
      - unfold alive in El. apply andb_true_iff in El. destruct El as [Er _].
        unfold key. pose proof Er as Er2. unfold is_request in Er.
        destruct (j_class (jb m)) as [i| | |] eqn:Ec; try discriminate.
        apply Z.le_trans with (2 := Hjob m i Hm Ec). apply suml_le. intros s _. unfold g.
        destruct (Nat.eqb_spec (s_job s) m) as [He|]; [|lia]. rewrite He, Er2. simpl. lia.
      - rewrite suml_zero; [lia|]. intros s Hs.
        destruct (Nat.eqb_spec (s_job s) m) as [He|]; [|reflexivity]. unfold g.
        destruct (is_request X (s_job s)) eqn:Er; [|reflexivity].
        destruct (live x z s) eqn:Elv; [exfalso|reflexivity].
        assert (Hrt : real_time X (s_job s) = true) by (unfold real_time; rewrite Er; reflexivity).
        destruct (live_job x z s Hxz Hin Hs Elv Hrt) as [_ [H1 H2]]. rewrite He in *.
        unfold alive in El. rewrite Er in El. simpl in El.
        destruct (Z.ltb_spec (j_rel (jb m)) z); [|lia].
        destruct (Z.ltb_spec x (j_due (jb m))); [discriminate|lia]. }
    apply (Z.le_trans _ _ _ (sumn_le n _ _ Hm)).
    rewrite (sumn_by_class n (length (p_rs P)) key).
    2:{ intros m Hm' Hl. unfold alive, is_request in Hl. unfold key.
        destruct (j_class (jb m)) eqn:E; try discriminate. apply (sporadic P X rules m i Hm' E). }
    rewrite (suml_nth _ (Request 0 1 1 0 0 0)). apply sumn_le. intros i Hi.
    fold (rq i).
    assert (Hinr : In (rq i) (p_rs P)) by (apply nth_In; assumption).
    pose proof (ok_requests P ok _ Hinr) as Hok. unfold request_ok in Hok.
    set (sel := fun m => alive m && Nat.eqb (key m) i).
    assert (Hsel : forall m, (m < n)%nat -> sel m = true ->
      j_class (jb m) = Req i /\ x - r_D (rq i) < j_nom (jb m) < z).
    { intros m Hm' Hs. unfold sel, alive, is_request, key in Hs.
      destruct (j_class (jb m)) eqn:E; simpl in Hs; try discriminate.
      apply andb_true_iff in Hs. destruct Hs as [Hs Hk]. apply Nat.eqb_eq in Hk. subst i0.
      apply andb_true_iff in Hs. destruct Hs as [H1 H2]. apply Z.ltb_lt in H1. apply Z.ltb_lt in H2.
      pose proof (sporadic P X rules m i Hm' E). split; [reflexivity|lia]. }
    assert (Hcnt : countn sel n <= cdiv (z - x + r_D (rq i)) (r_T (rq i))).
    { replace (z - x + r_D (rq i)) with (z - (x - r_D (rq i))) by lia.
      apply arrivals_in_open with (nom := fun m => j_nom (jb m)); try lia.
      - apply (apart_weaken n (is_req X i) sel); [|apply (period_apart P X rules i)].
        intros m Hm' Hs. destruct (Hsel m Hm' Hs) as [E _]. unfold is_req. rewrite E.
        apply Nat.eqb_refl.
      - intros m Hm' Hs. apply (Hsel m Hm' Hs). }
    specialize (Heach _ Hinr).
    assert (Hle : sumn (fun m => if sel m then each (rq (key m)) else 0) n
      <= each (rq i) * countn sel n).
    { apply sumn_count_mul. intros m Hm' Hs. unfold sel in Hs. apply andb_true_iff in Hs.
      destruct Hs as [_ Hk]. apply Nat.eqb_eq in Hk. rewrite Hk. lia. }
    change (sumn (fun m => if alive m && Nat.eqb (key m) i then each (rq (key m)) else 0) n)
      with (sumn (fun m => if sel m then each (rq (key m)) else 0) n).
    nia.
  Qed.

  Theorem transfers_live : forall x z, x < z ->
    in_time_up_to X (z - 1) ->          (* z is the first miss of the device, or before it *)
    live_steps x z <= N_j (z - x).
  Proof.
    intros x z Hxz Hin. unfold live_steps, N_j.
    apply Z.le_trans with
      (suml (fun s => if is_request X (s_job s) && live x z s then 1 else 0) steps).
    - apply suml_le. intros s _. unfold ind, live. rewrite andb_assoc.
      destruct (is_request X (s_job s) && (s_st s <? z) && (x <? s_en s)); lia.
    - apply (live_requests x z (fun _ => 1) (fun r => r_C r / r_q r)); try assumption.
      + intros r Hr. pose proof (ok_requests P ok r Hr) as Hok. unfold request_ok in Hok.
        apply Z.div_pos; lia.
      + intros m i Hm Ec. pose proof (sporadic P X rules m i Hm Ec) as [Hi Hsp].
        assert (Hinr : In (rq i) (p_rs P)) by (apply nth_In; assumption).
        pose proof (ok_requests P ok _ Hinr) as Hok. unfold request_ok in Hok.
        destruct (parts_of_request P X rules steps [] m i
          ltac:(rewrite app_nil_r; reflexivity) Hm Ec) as [Hp _].
        assert (j_parts (jb m) <= r_C (rq i) / r_q (rq i)) by (apply Z.div_le_lower_bound; lia).
        enough (suml (fun s => if Nat.eqb (s_job s) m then if live x z s then 1 else 0 else 0) steps
          <= parts steps m) by lia.
        apply suml_le. intros s _. unfold ind. destruct (Nat.eqb (s_job s) m); [|lia].
        destruct (live x z s); lia.
  Qed.

  (* With D = T it is the ⌈L/T⌉ + 1 of (34). *)
  Lemma carry_in : forall L T, 0 < T -> cdiv (L + T) T = cdiv L T + 1.
  Proof.
    intros L T HT. unfold cdiv. replace (L + T + T - 1) with (L + T - 1 + 1 * T) by lia.
    rewrite Z.div_add by lia. reflexivity.
  Qed.
End Live.

(* Not vacuous: of three chips that ask at 0 the last one waits for a transfer of each other one
   (`bus_example` has the rules); and steps of the example of a stripe are live between 9 and 13. *)
Example waits_example :
  sumn (fun k => if Nat.eqb k 2 then waits (fun _ => 0) ex_granted 0 100 k else 0) 3 = 5 * 2 /\
  transfers_of 3 Z.of_nat ex_granted (fun k => ex_granted k + 5) 0 100 0 = 1.
Proof. split; reflexivity. Qed.
Example live_example :
  in_time_up_to stripe_trace 12 /\ live_steps stripe_trace 9 13 = 2 /\ N_j stripe_processor 4 = 2.
Proof.
  split; [|split; reflexivity]. intros m Hm Hr Hd.
  apply (proj1 stripe_promises m Hm Hr). change (x_end stripe_trace) with 60. lia.
Qed.
