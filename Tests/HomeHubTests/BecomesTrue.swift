import StationFakes

/// Whether something becomes true, however long the threads that it depends on wait for a processor.
///
/// Files that use the fakes of the home cannot import those of the stations: both have a `FakeCamera`.
func becomesTrue(_ condition: () async -> Bool) async -> Bool { await eventually(condition) }
