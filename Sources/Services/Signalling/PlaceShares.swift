/// How principals share a limited number of places, so that nobody shuts the others out.
///
/// The owner may hold all of them. Every other principal has a share of its own, and all of them together leave a
/// reserve for the owner. With fewer than four places there is no reserve, and each principal has a share of one.
public struct PlaceShares: Sendable, Equatable {
    /// The principal of a token without a name: the person who runs the gateway.
    public static let owner = "owner"

    /// Why there is no place.
    public enum Refusal: Error, Sendable, Hashable {
        /// All places are taken.
        case full(Int)
        /// The principal holds its whole share.
        case share(Int)
        /// The remaining places are the owner's reserve.
        case reserved(Int)

        /// The reason as the end of a sentence.
        public var words: String {
            switch self {
            case .full(let places): "all \(places) places are taken"
            case .share(let share): "this token already uses its share of \(share) places"
            case .reserved(let reserve): "the last \(reserve) places are reserved for the owner"
            }
        }
    }

    /// How many places there are.
    public let total: Int

    /// Shares `total` places.
    public init(total: Int) {
        self.total = total
    }

    /// How many places each principal except the owner may hold.
    public var share: Int { max(1, total / 4) }

    /// How many places are reserved for the owner.
    public var reserve: Int { total / 4 }

    /// Whether a principal may take one more place; nil if it may.
    /// - Parameter holders: The holder of each place.
    public func refusal(of principal: String, holders: some Sequence<String>) -> Refusal? {
        var (all, own, guests) = (0, 0, 0)
        for holder in holders {
            all += 1
            if holder == principal { own += 1 }
            if holder != Self.owner { guests += 1 }
        }
        if principal != Self.owner {
            if own >= share { return .share(share) }
            if guests >= total - reserve { return all >= total ? .full(total) : .reserved(reserve) }
        }
        return all >= total ? .full(total) : nil
    }
}
