/// Stops a debug build whose driver gives a state machine its next input before it has taken the output of the last one.
///
/// `assert` would not do: it is off wherever code is optimised, and the builds for the address sanitizer are.
@inlinable package func expectDrained(_ isDrained: @autoclosure () -> Bool) {
    #if DEBUG
        precondition(isDrained(), "the driver has not taken the output of the input before")
    #endif
}
