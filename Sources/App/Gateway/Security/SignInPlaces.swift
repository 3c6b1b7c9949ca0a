import Transport

/// The places of passwords that are checked, or that wait for it. Each host has a share of them, so that one host cannot keep
/// all others from signing in.
struct SignInPlaces {
    /// Whose password it is.
    enum Holder: Hashable {
        /// Somebody at a host signs in.
        case signIn(SignInHost)
        /// Somebody who may do so sets a new password.
        case newPassword
    }

    enum Refusal {
        /// The holder has its share.
        case share
        /// All places are taken.
        case full
    }

    /// How many passwords there are at most.
    static let total = 8
    /// How many of them may be of one holder.
    static let share = 2

    private var taken: [Holder: Int] = [:]

    /// Takes a place. Release it in the end.
    /// - Returns: why no place is free; nil if the holder has one now.
    mutating func take(_ holder: Holder) -> Refusal? {
        let own = taken[holder] ?? 0
        guard own < Self.share else { return .share }
        guard taken.values.reduce(0, +) < Self.total else { return .full }
        taken[holder] = own + 1
        return nil
    }

    mutating func release(_ holder: Holder) {
        let left = (taken[holder] ?? 0) - 1
        taken[holder] = left > 0 ? left : nil
    }
}
