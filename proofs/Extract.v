(* The decision and the numbers of Section 2.2 as an OCaml program: see main.ml. *)
From Coq Require Import ZArith List Extraction ExtrOcamlBasic.
From Rtflash Require Import Sums Demand Trace Closing Tightest.

Extraction Language OCaml.
Extraction "decide.ml" Z.of_nat Z.succ_double Z.double build decide tightest slack pages_there F_of
  load_fits.
