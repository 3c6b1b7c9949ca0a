/// One parser or state machine under fuzzing: it is fed with bytes that somebody else chose.
///
/// The bodies live in this library, so that they are compiled with every build and run over damaged seeds with the
/// unit tests. The program `fuzz` runs them under libFuzzer (docs/fuzzing.md).
public struct FuzzTarget: Sendable {
    /// What `tools/fuzz` calls it.
    public let name: String
    /// What is fed, in a few words.
    public let about: String
    /// The longest input in bytes.
    public let maximumLength: Int
    /// Words of the format, which the fuzzer puts into inputs.
    public let dictionary: [String]
    /// Inputs to begin with.
    public let seeds: @Sendable () -> [[UInt8]]
    /// Feeds one input. What traps is a crash; what throws is a promise that was broken.
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

/// A promise that an input has broken: for instance that what was read and written reads the same again.
public struct FuzzFailure: Error, CustomStringConvertible {
    /// Which promise, and by what.
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

/// Keeps a value: the optimiser leaves out what makes one that nobody looks at.
@inline(never) @_optimize(none)
public func observe<Value>(_ value: Value) {}
