(* What the theorems that the documents quote rest on. *)
From Rtflash Require Import Qpa Demand Victims Sporadic Bus Trace Check Reserve Costs Server Edf
  Closing Superblock Examples Tightest Neighbours Flash Cheap
  Registers CheckRegisters Stretches Cached Ranks Channel ExamplesRegisters.

Print Assumptions lemma_1.
Print Assumptions lemma_5_document.
Print Assumptions lemma_5_code.
Print Assumptions lemma_5_code_ends.
Print Assumptions last_length_suffices.
Print Assumptions cheap_test_suffices.
Print Assumptions decide_correct.
Print Assumptions decide_exact.
Print Assumptions lemma_3.
Print Assumptions arrivals_in_closed.
Print Assumptions A_of_several_writers.
Print Assumptions X_of_several_writers.
Print Assumptions lemma_9.
Print Assumptions pending_bounds.
Print Assumptions lemma_7.
Print Assumptions lemma_2.
Print Assumptions pages_suffice.
Print Assumptions victims_are_cheap.
Print Assumptions pass_cost_bound.
Print Assumptions lemma_6.
Print Assumptions passes_due.
Print Assumptions lemma_4.
Print Assumptions closing.
Print Assumptions theorem_S.
Print Assumptions theorem_D.
Print Assumptions lemma_8.
Print Assumptions numbers_of_2_2.
Print Assumptions accepted_is_in_time.
Print Assumptions tightest_correct.
Print Assumptions build_ok.
Print Assumptions built_and_accepted.
Print Assumptions stripe_promises.
Print Assumptions superblock_promises.
Print Assumptions served_promises.
Print Assumptions background_promises.
Print Assumptions superblock_pass.
Print Assumptions waits_within_window.
Print Assumptions transfers_live.
Print Assumptions map_stays_ok.
Print Assumptions blocks_of_map.
Print Assumptions late_is_covered.
Print Assumptions lemma_4_registers.
Print Assumptions closing_registers.
Print Assumptions theorem_5_alone.
Print Assumptions convex_waits.
Print Assumptions wait_served.
Print Assumptions served_at_most.
Print Assumptions bus_within.
Print Assumptions transfers_live_registers.
Print Assumptions theorem_5.
Print Assumptions registers_kept.
Print Assumptions pair_kept.
