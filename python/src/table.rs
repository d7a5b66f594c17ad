//! Tables for data frames, by the Arrow PyCapsule interface: given and taken.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder, UInt64Builder};
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray, StructArray,
};
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use pyo3_arrow::input::AnyRecordBatch;

/// Columns of one length, with names: what `polars.DataFrame`, `pyarrow.table` and
/// `pandas.DataFrame.from_arrow` take.
#[pyclass(frozen, module = "rtflash", name = "Table")]
pub struct Table {
    batch: RecordBatch,
}

/// The values of a column, of this kind.
fn column(kind: &str, values: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    Ok(match kind {
        "bool" => Arc::new(BooleanArray::from(values.extract::<Vec<Option<bool>>>()?)),
        "int" => Arc::new(Int64Array::from(values.extract::<Vec<Option<i64>>>()?)),
        "float" => Arc::new(Float64Array::from(values.extract::<Vec<Option<f64>>>()?)),
        "str" => Arc::new(StringArray::from(values.extract::<Vec<Option<String>>>()?)),
        "list[int]" => {
            let mut builder = ListBuilder::new(UInt64Builder::new());
            values.extract::<Vec<Option<Vec<u64>>>>()?.into_iter().for_each(|list| {
                builder.append_option(list.map(|list| list.into_iter().map(Some)));
            });
            Arc::new(builder.finish())
        }
        "list[str]" => {
            let mut builder = ListBuilder::new(StringBuilder::new());
            values.extract::<Vec<Option<Vec<String>>>>()?.into_iter().for_each(|list| {
                builder.append_option(list.map(|list| list.into_iter().map(Some)));
            });
            Arc::new(builder.finish())
        }
        other => return Err(PyTypeError::new_err(format!("no kind of column: {other}"))),
    })
}

#[pymethods]
impl Table {
    /// A table from columns: name, kind and values. The kinds are `bool`, `int`, `float`, `str`,
    /// `list[int]` and `list[str]`; each value may be `None`.
    #[new]
    fn new(columns: Vec<(String, String, Bound<'_, PyAny>)>) -> PyResult<Table> {
        let mut fields = Vec::new();
        let mut arrays = Vec::new();
        for (name, kind, values) in &columns {
            let array = column(kind, values)?;
            fields.push(Field::new(name, array.data_type().clone(), true));
            arrays.push(array);
        }
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays);
        batch.map(|batch| Table { batch }).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The names of its columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Its rows, each as a dict.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = PyList::empty(py);
        (0..self.batch.num_rows()).try_for_each(|row| rows.append(row_of(py, &self.batch, row)?))?;
        Ok(rows)
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        format!("<Table: {} rows of {}>", self.batch.num_rows(), self.column_names().join(", "))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer that asks for other types converts these: the interface lets a producer do so.
        drop(requested_schema);
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }
}

/// The rows of any table that has the Arrow PyCapsule interface, each as a dict without the columns
/// that are null in it.
#[pyfunction]
pub fn rows<'py>(py: Python<'py>, table: AnyRecordBatch) -> PyResult<Bound<'py, PyList>> {
    let rows = PyList::empty(py);
    for batch in table.into_reader()? {
        let batch = batch.map_err(|error| PyValueError::new_err(error.to_string()))?;
        for row in 0..batch.num_rows() {
            rows.append(row_of(py, &batch, row)?)?;
        }
    }
    Ok(rows)
}

fn row_of<'py>(py: Python<'py>, batch: &RecordBatch, row: usize) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (field, array) in batch.schema().fields().iter().zip(batch.columns()) {
        dict.set_item(field.name(), value(py, array, row)?)?;
    }
    Ok(dict)
}

/// A value as Python has it. Types that no task has are refused.
fn value<'py>(py: Python<'py>, array: &ArrayRef, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if array.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    macro_rules! number {
        ($kind:ty) => {
            Ok(array.as_primitive::<$kind>().value(row).into_pyobject(py)?.into_any())
        };
    }
    match array.data_type() {
        DataType::Null => Ok(py.None().into_bound(py)),
        DataType::Boolean => Ok(array.as_boolean().value(row).into_pyobject(py)?.to_owned().into_any()),
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float32 => number!(Float32Type),
        DataType::Float64 => number!(Float64Type),
        DataType::Utf8 => Ok(array.as_string::<i32>().value(row).into_pyobject(py)?.into_any()),
        DataType::LargeUtf8 => Ok(array.as_string::<i64>().value(row).into_pyobject(py)?.into_any()),
        DataType::Utf8View => Ok(array.as_string_view().value(row).into_pyobject(py)?.into_any()),
        DataType::Struct(_) => fields(py, array.as_struct(), row),
        DataType::List(_) => items(py, &array.as_list::<i32>().value(row)),
        DataType::LargeList(_) => items(py, &array.as_list::<i64>().value(row)),
        other => Err(PyTypeError::new_err(format!("a column of type {other}: no field of a task is of this type"))),
    }
}

fn fields<'py>(py: Python<'py>, array: &StructArray, row: usize) -> PyResult<Bound<'py, PyAny>> {
    let dict = PyDict::new(py);
    for (name, column) in array.column_names().into_iter().zip(array.columns()) {
        dict.set_item(name, value(py, column, row)?)?;
    }
    Ok(dict.into_any())
}

fn items<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Bound<'py, PyAny>> {
    let list = PyList::empty(py);
    (0..array.len()).try_for_each(|row| list.append(value(py, array, row)?))?;
    Ok(list.into_any())
}
