/// One parser or state machine under fuzzing: it gets bytes that somebody else chose.
///
/// The bodies live in this library, so that they are compiled with every build and run over damaged seeds with the
/// unit tests. The program `fuzz` runs them under libFuzzer (docs/fuzzing.md).
public struct FuzzTarget: Sendable {
    /// Its name for `tools/fuzz`.
    public let name: String
    /// Its input, in a few words.
    public let about: String
    /// The longest input in bytes.
    public let maximumLength: Int
    /// Words of the format, which the fuzzer inserts into inputs.
    public let dictionary: [String]
    /// Inputs to start from.
    public let seeds: @Sendable () -> [[UInt8]]
    /// Runs one input. A trap is a crash; a thrown error is a broken promise.
    public let run: @Sendable (UnsafeRawBufferPointer) throws(FuzzFailure) -> Void

    /// Names all parts.
    public init(
        _ name: String, _ about: String, maximumLength: Int = 4096, dictionary: [String] = [],
        seeds: @escaping @Sendable () -> [[UInt8]],
        run: @escaping @Sendable (UnsafeRawBufferPointer) throws(FuzzFailure) -> Void
    ) {
        self.name = name
        self.about = about
        self.maximumLength = maximumLength
        self.dictionary = dictionary
        self.seeds = seeds
        self.run = run
    }
}

/// A promise that an input has broken: for example, that what was read and written reads the same again.
public struct FuzzFailure: Error, CustomStringConvertible {
    /// Which promise, and what broke it.
    public let description: String

    /// Names the promise.
    public init(_ description: String) {
        self.description = description
    }
}

/// Throws unless the condition holds.
func require(_ condition: Bool, _ promise: @autoclosure () -> String) throws(FuzzFailure) {
    guard condition else { throw FuzzFailure(promise()) }
}

/// Keeps a value: otherwise the optimiser removes the code that makes it.
@inline(never) @_optimize(none)
public func observe<Value>(_ value: Value) {}
