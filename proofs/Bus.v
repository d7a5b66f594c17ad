(* Section 2.1: Lemma 1. A channel carries one transfer at a time; transfers are numbered in the
   order of their grants. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums.
Import ListNotations.
Open Scope Z_scope.

(* Time of [lo, lo + k) that is covered by intervals [st m, en m) is at most their sum. *)
Lemma covered_time : forall n (st en : nat -> Z) lo k, 0 <= k ->
  (forall t, lo <= t < lo + k -> exists m, (m < n)%nat /\ st m <= t < en m) ->
  k <= sumn (fun m => Z.max 0 (Z.min (en m) (lo + k) - Z.max (st m) lo)) n.
Proof.
  intros n st en lo k Hk. revert k Hk. apply (natlike_ind (fun k =>
    (forall t, lo <= t < lo + k -> exists m, (m < n)%nat /\ st m <= t < en m) ->
    k <= sumn (fun m => Z.max 0 (Z.min (en m) (lo + k) - Z.max (st m) lo)) n)).
  - intros _. apply sumn_nonneg. intros. lia.
  - intros k Hk IH H.
    assert (H1 : k <= sumn (fun m => Z.max 0 (Z.min (en m) (lo + k) - Z.max (st m) lo)) n)
      by (apply IH; intros t Ht; apply H; lia).
    destruct (H (lo + k)) as [m [Hm1 Hm2]]; [lia|].
    assert (sumn (fun m => Z.max 0 (Z.min (en m) (lo + k) - Z.max (st m) lo)) n
      < sumn (fun m => Z.max 0 (Z.min (en m) (lo + Z.succ k) - Z.max (st m) lo)) n); [|lia].
    apply (sumn_lt n _ _ m); [intros; lia|assumption|lia].
Qed.

Section Bus.
  Variable n : nat.                 (* transfers *)
  Variable chip : nat -> Z.         (* whose *)
  Variables asked granted over : nat -> Z.
  Variables m_c t_d : Z.            (* chips of the channel; a page's time, at most *)

  Record bus_obeys : Prop := {
    chips : forall k, (k < n)%nat -> 0 <= chip k < m_c;
    times : forall k, (k < n)%nat -> asked k <= granted k <= over k /\ over k - granted k <= t_d;
    one_at_a_time : forall k l, (k < l)%nat -> (l < n)%nat -> over k <= granted l;
    (* A chip has at most one transfer under way or waiting. *)
    one_outstanding : forall k l, (k < l)%nat -> (l < n)%nat -> chip k = chip l -> over k <= asked l;
    (* A free bus with requests is never idle. *)
    bus_not_idle : forall k t, (k < n)%nat -> asked k <= t < granted k ->
      exists l, (l < n)%nat /\ granted l <= t < over l
  }.

  (* S3, D2: first come, first served, ties in any way. *)
  Definition S3_first_come : Prop :=
    forall k l, (k < l)%nat -> (l < n)%nat -> asked k <= asked l.

  (* S3, D2: round robin. While k waits no chip is served a second time. *)
  Definition S3_round_robin : Prop :=
    forall k i j, (i < j)%nat -> (j < k)%nat -> (k < n)%nat -> chip i = chip j ->
    ~ (asked k < over i /\ asked k < over j).

  Hypothesis rules : bus_obeys.

  Lemma first_come_turns : S3_first_come -> S3_round_robin.
  Proof.
    intros H k i j Hij Hjk Hk Hc [H1 H2].
    pose proof (one_outstanding rules i j Hij ltac:(lia) Hc).
    pose proof (H j k Hjk Hk). lia.
  Qed.

  (* Lemma 1. *)
  Theorem lemma_1 : 0 <= t_d -> S3_first_come \/ S3_round_robin ->
    forall k, (k < n)%nat -> granted k - asked k <= (m_c - 1) * t_d.
  Proof.
    intros Htd Hs k Hk.
    assert (Hrr : S3_round_robin) by (destruct Hs; [apply first_come_turns|]; assumption). clear Hs.
    set (w := granted k - asked k).
    pose proof (times rules k Hk) as Htk. pose proof (chips rules k Hk) as Hck.
    set (sel := fun m => Nat.ltb m k && (asked k <? over m)).
    assert (Hcov : w <= sumn (fun m => if sel m then t_d else 0) n).
    { pose proof (covered_time n granted over (asked k) w ltac:(lia)) as H.
      apply (Z.le_trans _ _ _ (H ltac:(intros t Ht; apply (bus_not_idle rules k t Hk);
        unfold w in Ht; lia))).
      apply sumn_le. intros m Hm. unfold sel. pose proof (times rules m Hm) as Htm.
      destruct (Nat.ltb_spec m k) as [|Hmk]; [destruct (Z.ltb_spec (asked k) (over m)); simpl; lia|].
      (* not before k: not before its grant *)
      assert (granted k <= granted m).
      { destruct (Nat.eq_dec m k) as [->|]; [lia|].
        pose proof (one_at_a_time rules k m ltac:(lia) Hm). lia. }
      simpl. unfold w. lia. }
    assert (Hcnt : countn sel n <= m_c - 1).
    { apply (countn_pigeon n sel (fun m => if chip m <? chip k then chip m else chip m - 1)).
      - lia.
      - intros m Hm Hs. unfold sel in Hs. apply andb_true_iff in Hs. destruct Hs as [Hs1 Hs2].
        apply Nat.ltb_lt in Hs1. apply Z.ltb_lt in Hs2.
        pose proof (chips rules m Hm).
        assert (chip m <> chip k).
        { intros He. pose proof (one_outstanding rules m k Hs1 Hk He). lia. }
        destruct (Z.ltb_spec (chip m) (chip k)); lia.
      - intros i j Hi Hj Hsi Hsj Heq. cbv beta in Heq. unfold sel in Hsi, Hsj.
        apply andb_true_iff in Hsi. destruct Hsi as [Hi1 Hi2].
        apply andb_true_iff in Hsj. destruct Hsj as [Hj1 Hj2].
        apply Nat.ltb_lt in Hi1. apply Z.ltb_lt in Hi2. apply Nat.ltb_lt in Hj1. apply Z.ltb_lt in Hj2.
        assert (Hci : chip i <> chip k).
        { intros He. pose proof (one_outstanding rules i k Hi1 Hk He). lia. }
        assert (Hcj : chip j <> chip k).
        { intros He. pose proof (one_outstanding rules j k Hj1 Hk He). lia. }
        assert (Hc : chip i = chip j).
        { destruct (Z.ltb_spec (chip i) (chip k)); destruct (Z.ltb_spec (chip j) (chip k)); lia. }
        destruct (Nat.lt_trichotomy i j) as [Hlt|[|Hlt]]; [exfalso|assumption|exfalso].
        + apply (Hrr k i j Hlt Hj1 Hk Hc). lia.
        + apply (Hrr k j i Hlt Hi1 Hk (eq_sym Hc)). lia. }
    assert (Hm : sumn (fun m => if sel m then t_d else 0) n <= t_d * countn sel n)
      by (apply sumn_count_mul; intros; lia).
    fold w. nia.
  Qed.

  (* Lemma 1 where some chips are known to be quiet: only the others count. A chip is quiet if none
     of its transfers is on the bus while k waits. *)
  Theorem lemma_1_busy : 0 <= t_d -> S3_first_come \/ S3_round_robin ->
    forall k, (k < n)%nat -> forall (busy : Z -> bool) o,
    countn (fun c => busy (Z.of_nat c)) (Z.to_nat m_c) <= o ->
    (forall m, (m < n)%nat -> busy (chip m) = false ->
       over m <= asked k \/ granted k <= granted m) ->
    granted k - asked k <= t_d * o.
  Proof.
    intros Htd Hs k Hk busy o Ho Hquiet.
    assert (Hrr : S3_round_robin) by (destruct Hs; [apply first_come_turns|]; assumption). clear Hs.
    set (w := granted k - asked k).
    pose proof (times rules k Hk) as Htk.
    set (sel := fun m => Nat.ltb m k && (asked k <? over m) && busy (chip m)).
    assert (Hcov : w <= sumn (fun m => if sel m then t_d else 0) n).
    { pose proof (covered_time n granted over (asked k) w ltac:(lia)) as H.
      apply (Z.le_trans _ _ _ (H ltac:(intros t Ht; apply (bus_not_idle rules k t Hk);
        unfold w in Ht; lia))).
      apply sumn_le. intros m Hm. unfold sel. pose proof (times rules m Hm) as Htm.
      specialize (Hquiet m Hm).
      destruct (Nat.ltb_spec m k) as [|Hmk].
      - destruct (Z.ltb_spec (asked k) (over m)); [|simpl; lia].
        destruct (busy (chip m)); simpl; [lia|]. specialize (Hquiet eq_refl). unfold w. lia.
      - assert (granted k <= granted m).
        { destruct (Nat.eq_dec m k) as [->|]; [lia|].
          pose proof (one_at_a_time rules k m ltac:(lia) Hm). lia. }
        simpl. unfold w. lia. }
    assert (Hcnt : countn sel n <= o).
    { apply Z.le_trans with (2 := Ho). unfold countn at 1.
      rewrite (sumn_ext n (fun m => ind (sel m)) (fun m => if sel m then 1 else 0));
        [|intros; reflexivity].
      rewrite (sumn_by_class n (Z.to_nat m_c) (fun m => Z.to_nat (chip m))).
      2:{ intros m Hm _. pose proof (chips rules m Hm). lia. }
      apply sumn_le. intros c Hc.
      set (one := fun m => sel m && Nat.eqb (Z.to_nat (chip m)) c).
      change (countn one n <= ind (busy (Z.of_nat c))).
      assert (Hcl : forall m, (m < n)%nat -> one m = true -> chip m = Z.of_nat c /\ (m < k)%nat /\
        asked k < over m /\ busy (chip m) = true).
      { intros m Hm Hs1. unfold one, sel in Hs1. apply andb_true_iff in Hs1.
        destruct Hs1 as [H1 H2].
        apply andb_true_iff in H1. destruct H1 as [H1 H3]. apply andb_true_iff in H1.
        destruct H1 as [H1 H4]. apply Nat.ltb_lt in H1. apply Z.ltb_lt in H4.
        apply Nat.eqb_eq in H2. pose proof (chips rules m Hm). repeat split; auto. lia. }
      destruct (busy (Z.of_nat c)) eqn:Eb; unfold ind.
      - apply countn_le_one. intros i j Hi Hj Hoi Hoj.
        destruct (Hcl i Hi Hoi) as [Hi1 [Hi2 [Hi3 _]]].
        destruct (Hcl j Hj Hoj) as [Hj1 [Hj2 [Hj3 _]]].
        destruct (Nat.lt_trichotomy i j) as [Hlt|[|Hlt]]; [exfalso|assumption|exfalso].
        + apply (Hrr k i j Hlt Hj2 Hk ltac:(congruence)). lia.
        + apply (Hrr k j i Hlt Hi2 Hk ltac:(congruence)). lia.
      - assert (countn one n = 0); [|lia]. apply sumn_zero. intros m Hm. unfold ind.
        destruct (one m) eqn:E; [|reflexivity]. destruct (Hcl m Hm E) as [H1 [_ [_ H2]]].
        rewrite H1 in H2. congruence. }
    assert (Hm : sumn (fun m => if sel m then t_d else 0) n <= t_d * countn sel n)
      by (apply sumn_count_mul; intros; lia).
    assert (t_d * countn sel n <= t_d * o) by (apply Z.mul_le_mono_nonneg_l; assumption).
    fold w. lia.
  Qed.

  (* (3) and (4): so a step that uses the bus takes c_r or c_w at most. *)
  Corollary read_step_time : forall t_r k s, 0 <= t_d -> S3_first_come \/ S3_round_robin ->
    (k < n)%nat -> asked k - s <= t_r -> over k - s <= t_r + m_c * t_d.
  Proof.
    intros t_r k s H0 Hs Hk Hr. pose proof (lemma_1 H0 Hs k Hk). pose proof (times rules k Hk). lia.
  Qed.

  Corollary program_step_time : forall t_w k e, 0 <= t_d -> S3_first_come \/ S3_round_robin ->
    (k < n)%nat -> e - over k <= t_w -> e - asked k <= t_w + m_c * t_d.
  Proof.
    intros t_w k e H0 Hs Hk Hr. pose proof (lemma_1 H0 Hs k Hk). pose proof (times rules k Hk). lia.
  Qed.
End Bus.

(* Not vacuous, and tight: three chips ask at 0, the last one waits for two transfers of 5. *)
Definition ex_granted (k : nat) : Z := 5 * Z.of_nat k.
Example bus_example :
  bus_obeys 3 Z.of_nat (fun _ => 0) ex_granted (fun k => ex_granted k + 5) 3 5 /\
  S3_first_come 3 (fun _ => 0) /\ ex_granted 2 - 0 = (3 - 1) * 5.
Proof.
  unfold ex_granted. split; [|split; [intros k l _ _; lia|reflexivity]].
  constructor; try (intros; lia).
  intros k t Hk Ht. exists (Z.to_nat (t / 5)).
  pose proof (Z.div_mod t 5 ltac:(lia)). pose proof (Z.mod_pos_bound t 5 ltac:(lia)).
  assert (0 <= t / 5) by (apply Z.div_pos; lia). lia.
Qed.
