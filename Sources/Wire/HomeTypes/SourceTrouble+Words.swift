extension SourceTrouble {
    /// The reason, and what is known about the attempts, as people read it.
    public var words: String {
        switch attempts {
        case nil: reason
        case .next(let seconds): "\(reason); the next try is in \(seconds) s"
        case .failed(let count): "\(reason); given up for now after \(count) such failures"
        }
    }
}
