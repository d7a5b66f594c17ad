(* Section 13: W4. What the waits charged to a chip come to where the transfers of other chips are
   counted: (66), by ranks and convexity; and who is served in a wait. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Bus Trace Reserve Costs Closing Examples
  Neighbours.
Import ListNotations.
Open Scope Z_scope.

(* (64) *)
Definition hold_over (t_d t_r m : Z) : Z := Z.max 0 ((m + 1) * t_d - t_r).

(* What the chip of rank l + 1 adds to a page of (i). *)
Definition increment (t_d t_r m : Z) (l : nat) : Z :=
  hold_over t_d t_r (m + Z.of_nat l + 1) - hold_over t_d t_r (m + Z.of_nat l).

(* (66): m other chips are charged to all; N l is the count of the chip of rank l + 1, of q. *)
Definition W4 (t_d t_r m K nr : Z) (N : nat -> Z) (q : nat) : Z :=
  (m + 1) * t_d * K +
  sumn (fun l => t_d * Z.min (N l) K
                 + increment t_d t_r m l * Z.min nr (N l - Z.min (N l) K)) q.

Section Convex.
  Variables t_d t_r m : Z.
  Hypothesis t_d_known : 0 <= t_d.
  Hypothesis m_known : 0 <= m.
  Notation h := (hold_over t_d t_r).
  Notation c := (increment t_d t_r m).

  Lemma next_hold : forall k, h (k + 1) - h k <= t_d /\ 0 <= h (k + 1) - h k.
  Proof.
    intros k. unfold hold_over. replace ((k + 1 + 1) * t_d) with ((k + 1) * t_d + t_d) by ring. lia.
  Qed.

  (* h is convex. *)
  Lemma holds_grow : forall k l, k <= l -> h (k + 1) - h k <= h (l + 1) - h l.
  Proof.
    intros k l H. unfold hold_over.
    assert ((k + 1) * t_d <= (l + 1) * t_d) by (apply Z.mul_le_mono_nonneg_r; lia).
    replace ((k + 1 + 1) * t_d) with ((k + 1) * t_d + t_d) by ring.
    replace ((l + 1 + 1) * t_d) with ((l + 1) * t_d + t_d) by ring. lia.
  Qed.

  Lemma countn_at_most : forall q M, countn M q <= Z.of_nat q.
  Proof.
    intros q M. unfold countn. induction q; simpl; [lia|]. unfold ind at 2. destruct (M q); lia.
  Qed.

  (* The l-th of those that are served has rank l at least, and a greater increment. *)
  Lemma by_rank : forall q (M : nat -> bool),
    h (m + countn M q) <= h m + sumn (fun l => if M l then c l else 0) q.
  Proof.
    induction q as [|q IH]; intros M.
    - unfold countn. cbn [sumn]. rewrite !Z.add_0_r. apply Z.le_refl.
    - specialize (IH M). unfold countn in *. cbn [sumn].
      set (s := sumn (fun k => ind (M k)) q) in *.
      destruct (M q); [change (ind true) with 1|change (ind false) with 0; rewrite !Z.add_0_r; lia].
      assert (Hs : s <= Z.of_nat q) by apply countn_at_most.
      pose proof (holds_grow (m + s) (m + Z.of_nat q) ltac:(lia)) as Hg.
      assert (Hc : c q = h (m + Z.of_nat q + 1) - h (m + Z.of_nat q)) by reflexivity.
      replace (m + (s + 1)) with (m + s + 1) by ring. lia.
  Qed.

  Variable A : Type.
  Variable full : A -> bool.           (* a whole wait, or a page of (i) *)
  Variable M : A -> nat -> bool.       (* whether the chip of that rank is served in it *)
  Variable q : nat.
  Variable N : nat -> Z.

  Definition wait_cost (w : A) : Z :=
    if full w then (m + 1 + countn (M w) q) * t_d else h (m + countn (M w) q).

  Lemma suml_sumn : forall (f : A -> nat -> Z) ch,
    suml (fun w => sumn (f w) q) ch = sumn (fun l => suml (fun w => f w l) ch) q.
  Proof.
    intros f. induction ch as [|w ch IH].
    - symmetry. apply sumn_zero. reflexivity.
    - rewrite suml_cons, IH, <- sumn_add. apply sumn_ext. intros. rewrite suml_cons. reflexivity.
  Qed.

  (* (66), for any waits of which chip l is in N l at most. *)
  Theorem convex_waits : forall ch K nr,
    suml (fun w => ind (full w)) ch <= K ->
    suml (fun w => ind (negb (full w))) ch <= nr ->
    (forall l, (l < q)%nat -> suml (fun w => ind (M w l)) ch <= N l) ->
    suml wait_cost ch <= W4 t_d t_r m K nr N q + nr * h m.
  Proof.
    intros ch K nr HK Hn HN.
    set (F := suml (fun w => ind (full w)) ch) in *.
    set (G := suml (fun w => ind (negb (full w))) ch) in *.
    set (f := fun l => suml (fun w => ind (full w && M w l)) ch).
    set (g := fun l => suml (fun w => ind (negb (full w) && M w l)) ch).
    assert (Hsplit : suml wait_cost ch <= (m + 1) * t_d * F + h m * G
      + sumn (fun l => t_d * f l + c l * g l) q).
    { assert (Heach : suml wait_cost ch <= suml (fun w => (m + 1) * t_d * ind (full w)
        + h m * ind (negb (full w))
        + sumn (fun l => t_d * ind (full w && M w l) + c l * ind (negb (full w) && M w l)) q) ch).
      { apply suml_le. intros w _. unfold wait_cost. destruct (full w); simpl.
        - assert (Hc : sumn (fun l => t_d * ind (M w l) + c l * ind false) q = t_d * countn (M w)
            q).
          { unfold countn. rewrite <- sumn_mul. apply sumn_ext. intros l _. unfold ind. lia. }
          change (ind true) with 1. change (ind false) with 0 in *. rewrite Hc. lia.
        - pose proof (by_rank q (M w)) as Hb.
          assert (Hc : sumn (fun l => t_d * ind false + c l * ind (M w l)) q
            = sumn (fun l => if M w l then c l else 0) q).
          { apply sumn_ext. intros l _. unfold ind. destruct (M w l); lia. }
          change (ind true) with 1. change (ind false) with 0 in *. rewrite Hc. lia. }
      apply (Z.le_trans _ _ _ Heach). apply Z.eq_le_incl. unfold F, G.
      assert (Hsum : sumn (fun l => t_d * f l + c l * g l) q = suml (fun w => sumn (fun l =>
        t_d * ind (full w && M w l) + c l * ind (negb (full w) && M w l)) q) ch).
      { rewrite suml_sumn. apply sumn_ext. intros l _. unfold f, g. clear.
        induction ch as [|w ch IH]; [unfold suml; simpl; lia|]. rewrite !suml_cons.
        rewrite <- IH. lia. }
      rewrite Hsum. clear. induction ch as [|w ch IH]; [unfold suml; simpl; lia|].
      rewrite !suml_cons, IH. lia. }
    assert (Hh0 : 0 <= h m) by (unfold hold_over; lia).
    assert (HF0 : 0 <= F) by (apply suml_nonneg; intros w _; unfold ind; destruct (full w); lia).
    assert (HG0 : 0 <= G) by (apply suml_nonneg; intros w _; unfold ind; destruct (full w); simpl;
      lia).
    assert (Hl : sumn (fun l => t_d * f l + c l * g l) q <= sumn (fun l => t_d * Z.min (N l) K
      + c l * Z.min nr (N l - Z.min (N l) K)) q).
    { apply sumn_le. intros l Hq. specialize (HN l Hq).
      assert (Hc : 0 <= c l <= t_d).
      { unfold increment. pose proof (next_hold (m + Z.of_nat l)). lia. }
      assert (H1 : f l + g l <= N l).
      { apply (Z.le_trans _ (suml (fun w => ind (M w l)) ch)); [|assumption].
        apply Z.eq_le_incl. unfold f, g. clear. induction ch as [|w ch IH]; [reflexivity|].
        rewrite !suml_cons. rewrite <- IH. destruct (full w); destruct (M w l); cbn [negb andb];
          try change (ind true) with 1; try change (ind false) with 0; lia. }
      assert (H2 : 0 <= f l <= F).
      { split; [apply suml_nonneg; intros w _; unfold ind; destruct (full w && M w l); lia|].
        apply suml_le. intros w _. unfold ind. destruct (full w); destruct (M w l); simpl; lia. }
      assert (H3 : 0 <= g l <= G).
      { split; [apply suml_nonneg; intros w _; unfold ind; destruct (negb (full w) && M w l); lia|].
        apply suml_le. intros w _. unfold ind. destruct (full w); destruct (M w l); simpl; lia. }
      set (a := Z.min (N l) K). assert (Ha : f l <= a) by (unfold a; lia).
      destruct (Z.le_gt_cases (g l) (Z.min nr (N l - a))) as [Hle|Hgt].
      - assert (t_d * f l <= t_d * a) by (apply Z.mul_le_mono_nonneg_l; lia).
        assert (c l * g l <= c l * Z.min nr (N l - a)) by (apply Z.mul_le_mono_nonneg_l; lia). lia.
      - replace (Z.min nr (N l - a)) with (N l - a) by lia.
        assert (c l * g l <= c l * (N l - f l)) by (apply Z.mul_le_mono_nonneg_l; lia).
        assert ((t_d - c l) * f l <= (t_d - c l) * a) by (apply Z.mul_le_mono_nonneg_l; lia). lia. }
    unfold W4.
    assert ((m + 1) * t_d * F <= (m + 1) * t_d * K).
    { apply Z.mul_le_mono_nonneg_l; [apply Z.mul_nonneg_nonneg; lia|assumption]. }
    assert (h m * G <= nr * h m) by (rewrite Z.mul_comm; apply Z.mul_le_mono_nonneg_r; lia).
    lia.
  Qed.
End Convex.

(* A sum over the numbers below a bound that are in a list. *)
Lemma sumn_of_list : forall n (f : nat -> Z) l, NoDup l -> (forall k, In k l -> (k < n)%nat) ->
  sumn (fun k => if existsb (Nat.eqb k) l then f k else 0) n = suml f l.
Proof.
  intros n f. induction l as [|a l IH]; intros Hd Hin.
  - apply sumn_zero. reflexivity.
  - inversion Hd as [|a' l' Ha Hl]; subst. rewrite suml_cons, <- IH by (auto; intros; apply Hin;
      right; auto).
    assert (Hs : sumn (fun k => if Nat.eqb k a then f k else 0) n = f a).
    { rewrite (sumn_single n _ a); [rewrite Nat.eqb_refl; reflexivity|apply Hin; left;
        reflexivity|].
      intros k _ Hk. destruct (Nat.eqb_spec k a); [contradiction|reflexivity]. }
    rewrite <- Hs, <- sumn_add. apply sumn_ext. intros k _. simpl.
    destruct (Nat.eqb_spec k a) as [->|]; simpl; [|lia].
    destruct (existsb (Nat.eqb a) l) eqn:E; [exfalso|lia].
    apply existsb_exists in E. destruct E as [y [Hy He]]. apply Nat.eqb_eq in He. congruence.
Qed.

Section Served.
  Variable n : nat.
  Variable chip : nat -> Z.
  Variables asked granted over : nat -> Z.
  Variables m_c t_d : Z.
  Hypothesis rules : bus_obeys n chip asked granted over m_c t_d.
  Hypothesis times_known : 0 <= t_d.
  Hypothesis turns : S3_first_come n asked \/ S3_round_robin n chip asked over.
  Variables x z : Z.
  Variable i : Z.
  Hypothesis i_known : 0 <= i < m_c.

  (* Whether chip j is served in the wait of transfer k, within the window. *)
  Definition served_in (j : Z) (k : nat) : bool :=
    existsb (fun l => (chip l =? j) && (0 <? takes asked granted over x z k l)) (seq 0 n).

  (* The chips of a list, by rank; the others are charged to all. *)
  Variable ranks : list nat.
  Hypothesis ranks_differ : NoDup ranks.
  Hypothesis ranks_known : forall j, In j ranks -> (j < Z.to_nat m_c)%nat /\ Z.of_nat j <> i.
  Notation q := (length ranks).
  Notation rank l := (Z.of_nat (nth l ranks O)).

  (* A wait and its transfer: those that are served in it, and m + 1. *)
  Theorem wait_served : forall k, (k < n)%nat -> chip k = i ->
    Z.max 0 (Z.min (over k) z - Z.max (asked k) x)
    <= (m_c - 1 - Z.of_nat q + 1 + countn (fun l => served_in (rank l) k) q) * t_d.
  Proof.
    intros k Hk Hc.
    pose proof (times n chip asked granted over m_c t_d rules k Hk) as Ht.
    set (own := fun l => Nat.eqb l k).
    assert (Hown : forall l, (l < n)%nat -> own l = true -> chip l = i).
    { intros l _ Ho. apply Nat.eqb_eq in Ho. congruence. }
    assert (Hok : own k = true) by apply Nat.eqb_refl.
    pose proof (wait_is_taken n chip asked granted over m_c t_d rules x z own i Hown k Hk Hok) as
      Hw.
    set (tk := fun l => takes asked granted over x z k l) in *.
    (* by chips *)
    set (of := fun j : nat => sumn (fun l => if chip l =? Z.of_nat j then tk l else 0) n).
    assert (Hby : sumn (fun l => if negb (chip l =? i) then tk l else 0) n
      <= sumn (fun j => if Z.of_nat j =? i then 0 else of j) (Z.to_nat m_c)).
    { rewrite (sumn_by_class n (Z.to_nat m_c) (fun l => Z.to_nat (chip l))).
      2:{ intros l Hl _. pose proof (chips n chip asked granted over m_c t_d rules l Hl). lia. }
      apply sumn_le. intros j Hj. unfold of. destruct (Z.eqb_spec (Z.of_nat j) i) as [He|He].
      - rewrite sumn_zero; [lia|]. intros l Hl.
        pose proof (chips n chip asked granted over m_c t_d rules l Hl).
        destruct (Z.eqb_spec (chip l) i); simpl; [reflexivity|].
        destruct (Nat.eqb_spec (Z.to_nat (chip l)) j); [lia|reflexivity].
      - apply sumn_le. intros l Hl.
        pose proof (chips n chip asked granted over m_c t_d rules l Hl).
        destruct (Nat.eqb_spec (Z.to_nat (chip l)) j).
        + destruct (Z.eqb_spec (chip l) (Z.of_nat j)); [|lia].
          destruct (negb (chip l =? i)); simpl; unfold tk, takes; lia.
        + rewrite andb_false_r. destruct (chip l =? Z.of_nat j); unfold tk, takes; lia. }
    assert (Hof : forall j, (j < Z.to_nat m_c)%nat -> Z.of_nat j <> i ->
      of j <= t_d * ind (served_in (Z.of_nat j) k)).
    { intros j Hj Hji. destruct (served_in (Z.of_nat j) k) eqn:E.
      - change (ind true) with 1. rewrite Z.mul_1_r.
        apply (one_of_each n chip asked granted over m_c t_d rules times_known turns x z own i
          (Z.of_nat j) k Hk Hok Hji).
      - change (ind false) with 0. rewrite Z.mul_0_r. apply Z.eq_le_incl. apply sumn_zero.
        intros l Hl.
        destruct (Z.eqb_spec (chip l) (Z.of_nat j)) as [He|]; [|reflexivity].
        destruct (Z.lt_ge_cases 0 (tk l)) as [Hp|Hp]; [exfalso|unfold tk, takes in *; lia].
        assert (served_in (Z.of_nat j) k = true); [|congruence].
        apply existsb_exists. exists l. split; [apply in_seq; lia|].
        rewrite (proj2 (Z.eqb_eq _ _) He). apply Z.ltb_lt. assumption. }
    set (in_ranks := fun j => existsb (Nat.eqb j) ranks).
    assert (Hin : forall j, in_ranks j = true -> In j ranks).
    { intros j H. apply existsb_exists in H. destruct H as [y [Hy He]]. apply Nat.eqb_eq in He.
      congruence. }
    assert (Hsum : sumn (fun j => if Z.of_nat j =? i then 0 else of j) (Z.to_nat m_c)
      <= sumn (fun j => if in_ranks j then t_d * ind (served_in (Z.of_nat j) k) else 0) (Z.to_nat
        m_c)
         + t_d * (m_c - 1 - Z.of_nat q)).
    { assert (Hcount : sumn (fun j => if in_ranks j then 1 else 0) (Z.to_nat m_c) = Z.of_nat q).
      { unfold in_ranks. rewrite sumn_of_list by (auto; intros j Hj; apply (ranks_known j Hj)).
        clear. induction ranks as [|a l IH]; [reflexivity|]. rewrite suml_cons, IH. simpl length.
        lia. }
      assert (Hall : sumn (fun j : nat => 1) (Z.to_nat m_c) = m_c).
      { rewrite <- (Z2Nat.id m_c) at 2 by lia. generalize (Z.to_nat m_c). clear.
        induction n as [|k IH]; [reflexivity|]. cbn [sumn]. rewrite IH. lia. }
      assert (Hone : sumn (fun j => ind (Z.of_nat j =? i)) (Z.to_nat m_c) = 1).
      { rewrite (sumn_single _ _ (Z.to_nat i)); [| lia |].
        - rewrite Z2Nat.id by lia. rewrite Z.eqb_refl. reflexivity.
        - intros j _ Hj. destruct (Z.eqb_spec (Z.of_nat j) i); [lia|reflexivity]. }
      assert (Hrest : m_c - 1 - Z.of_nat q = sumn (fun j => 1 + (-1 * ind (Z.of_nat j =? i)
        + -1 * (if in_ranks j then 1 else 0))) (Z.to_nat m_c)).
      { rewrite sumn_add, sumn_add, !sumn_mul, Hall, Hone, Hcount. lia. }
      rewrite Hrest, <- sumn_mul, <- sumn_add. apply sumn_le. intros j Hj.
      destruct (Z.eqb_spec (Z.of_nat j) i) as [He|He].
      - destruct (in_ranks j) eqn:Er; [destruct (ranks_known j (Hin j Er)); contradiction|].
        unfold ind. lia.
      - specialize (Hof j Hj He).
        assert (ind (served_in (Z.of_nat j) k) <= 1) by (unfold ind;
          destruct (served_in (Z.of_nat j) k); lia).
        assert (t_d * ind (served_in (Z.of_nat j) k) <= t_d * 1) by (apply Z.mul_le_mono_nonneg_l;
          lia).
        change (ind false) with 0. destruct (in_ranks j); lia. }
    assert (Hlist : sumn (fun j => if in_ranks j then t_d * ind (served_in (Z.of_nat j) k) else 0)
      (Z.to_nat m_c)
      = t_d * countn (fun l => served_in (rank l) k) q).
    { unfold in_ranks. rewrite sumn_of_list by (auto; intros j Hj; apply (ranks_known j Hj)).
      rewrite (suml_nth _ O). unfold countn. rewrite <- sumn_mul. reflexivity. }
    unfold waits, hi, lo in Hw. lia.
  Qed.

  (* Chip j is served in as many of i's waits as it has transfers in the window, at most. *)
  Theorem served_at_most : forall ks j, NoDup ks ->
    (forall k, In k ks -> (k < n)%nat /\ chip k = i) -> j <> i ->
    suml (fun k => ind (served_in j k)) ks <= transfers_of n chip granted over x z j.
  Proof.
    intros ks j Hd Hks Hj.
    assert (Hswap : suml (fun k => ind (served_in j k)) ks <= sumn (fun l => suml (fun k =>
      ind ((chip l =? j) && (0 <? takes asked granted over x z k l))) ks) n).
    { clear Hd Hks. induction ks as [|k ks IH].
      - unfold suml at 1. simpl. apply sumn_nonneg. intros. apply Z.le_refl.
      - rewrite suml_cons. rewrite (sumn_ext n _ (fun l =>
          ind ((chip l =? j) && (0 <? takes asked granted over x z k l)) + suml (fun k =>
          ind ((chip l =? j) && (0 <? takes asked granted over x z k l))) ks))
          by (intros; reflexivity).
        rewrite sumn_add.
        assert (ind (served_in j k) <= sumn (fun l => ind ((chip l =? j)
          && (0 <? takes asked granted over x z k l))) n); [|lia].
        destruct (served_in j k) eqn:E; change (ind true) with 1; change (ind false) with 0.
        + apply existsb_exists in E. destruct E as [l [Hl He]]. apply in_seq in Hl.
          assert (H0 : forall p, 0 <= ind p) by (intros []; unfold ind; lia).
          pose proof (sumn_term n (fun l => ind ((chip l =? j) && (0 <? takes asked granted over x
            z k l))) l
            (fun m _ => H0 _) ltac:(lia)) as Ht. cbv beta in Ht. rewrite He in Ht. exact Ht.
        + apply sumn_nonneg. intros l _. unfold ind.
          destruct ((chip l =? j) && (0 <? takes asked granted over x z k l)); lia. }
    apply (Z.le_trans _ _ _ Hswap). unfold transfers_of, countn. apply sumn_le. intros l Hl.
    (* transfer l is in one wait *)
    pose proof (times n chip asked granted over m_c t_d rules l Hl) as Htl.
    assert (Hbefore : forall k, In k ks -> chip l = j -> 0 < takes asked granted over x z k l ->
      (l < k)%nat /\ x < over l /\ granted l < z /\ asked k < over l /\ over l <= granted k).
    { intros k Hk Hc Ht. destruct (Hks k Hk) as [Hkn Hkc]. unfold takes, hi, lo in Ht.
      pose proof (times n chip asked granted over m_c t_d rules k Hkn) as Htk.
      destruct (Nat.lt_trichotomy l k) as [Hlt|[->|Hlt]]; [|congruence|].
      - pose proof (one_at_a_time n chip asked granted over m_c t_d rules l k Hlt Hkn). lia.
      - pose proof (one_at_a_time n chip asked granted over m_c t_d rules k l Hlt Hl). lia. }
    destruct (existsb (fun k => (chip l =? j) && (0 <? takes asked granted over x z k l)) ks)
      eqn:Ee.
    - apply existsb_exists in Ee. destruct Ee as [k0 [Hk0 He]].
      apply andb_true_iff in He. destruct He as [He1 He2]. apply Z.eqb_eq in He1.
      apply Z.ltb_lt in He2.
      destruct (Hbefore k0 Hk0 He1 He2) as [_ [Hx [Hz _]]].
      assert (Ho : occupies chip granted over x z j l = true).
      { unfold occupies. rewrite (proj2 (Z.eqb_eq _ _) He1), (proj2 (Z.ltb_lt _ _) Hz),
          (proj2 (Z.ltb_lt _ _) Hx). reflexivity. }
      rewrite Ho. change (ind true) with 1.
      assert (Hone : forall k, In k ks -> k <> k0 -> takes asked granted over x z k l <= 0).
      { intros k Hk Hne. destruct (Z.le_gt_cases (takes asked granted over x z k l) 0) as [|Hp];
          [assumption|exfalso].
        destruct (Hbefore k Hk He1 ltac:(lia)) as [H1 [_ [_ [H2 H3]]]].
        destruct (Hbefore k0 Hk0 He1 He2) as [H4 [_ [_ [H5 H6]]]].
        destruct (Hks k Hk) as [Hkn Hkc]. destruct (Hks k0 Hk0) as [Hkn0 Hkc0].
        pose proof (times n chip asked granted over m_c t_d rules k Hkn).
        pose proof (times n chip asked granted over m_c t_d rules k0 Hkn0).
        destruct (Nat.lt_trichotomy k k0) as [Hlt|[|Hlt]]; [|contradiction|].
        - pose proof (one_outstanding n chip asked granted over m_c t_d rules k k0 Hlt Hkn0
            ltac:(congruence)). lia.
        - pose proof (one_outstanding n chip asked granted over m_c t_d rules k0 k Hlt Hkn
            ltac:(congruence)). lia. }
      clear Hks Hswap Hbefore. induction ks as [|k ks IH]; [contradiction|].
      apply NoDup_cons_iff in Hd. destruct Hd as [Hk Hd']. rewrite suml_cons.
      destruct (Nat.eq_dec k k0) as [->|Hne].
      + assert (Hi : forall p, ind p <= 1) by (intros []; unfold ind; lia).
        assert (Hz0 : suml (fun k => ind ((chip l =? j) && (0 <? takes asked granted over x z k
          l))) ks = 0).
        { apply suml_zero. intros y Hy. assert (y <> k0) by congruence.
          specialize (Hone y ltac:(right; assumption) H).
          destruct (Z.ltb_spec 0 (takes asked granted over x z y l)); [lia|]. rewrite andb_false_r.
          reflexivity. }
        rewrite Hz0, Z.add_0_r. apply Hi.
      + destruct Hk0 as [Hk0|Hk0]; [congruence|].
        specialize (Hone k ltac:(left; reflexivity) Hne) as Hz1.
        destruct (Z.ltb_spec 0 (takes asked granted over x z k l)); [lia|]. rewrite andb_false_r.
        change (ind false) with 0. rewrite Z.add_0_l. apply IH; try assumption.
        intros y Hy Hyne. apply Hone; [right; assumption|assumption].
    - rewrite suml_zero; [unfold ind; destruct (occupies chip granted over x z j l); lia|].
      intros k Hk. destruct ((chip l =? j) && (0 <? takes asked granted over x z k l)) eqn:E2;
        [exfalso|reflexivity].
      assert (existsb (fun k => (chip l =? j) && (0 <? takes asked granted over x z k l)) ks =
        true); [|congruence].
      apply existsb_exists. exists k. auto.
  Qed.
End Served.
