import Transport

/// How far a camera may lead the gateway, in a redirection or in a playlist.
///
/// Everything leads to public addresses. Besides them, a place leads to networks of its own kind: a camera of the home to
/// the home, a program of this machine to this machine, a public server to neither. A way of several steps leads no
/// further than each of its steps, which is their intersection.
struct AddressReach: OptionSet, Hashable, Sendable {
    let rawValue: UInt8

    /// 127.0.0.0/8 and `::1`.
    static let loopback = AddressReach(rawValue: 1)
    /// This machine's other addresses.
    static let thisMachine = AddressReach(rawValue: 2)
    /// 169.254.0.0/16 and `fe80::/10`. Cloud hosts have their metadata service there.
    static let linkLocal = AddressReach(rawValue: 4)
    /// Networks that are not public.
    static let privateNetworks = AddressReach(rawValue: 8)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// What a place may name that was reached at this address.
    init(of place: TransportAddress) {
        let kind = AddressReach(neededFor: place)
        if kind.contains(.loopback) {
            self = [.loopback, .thisMachine, .privateNetworks]
        } else {
            self = kind.isEmpty ? [] : kind.union(.privateNetworks)
        }
    }

    /// What is needed to lead to an address; empty for a public one.
    private init(neededFor address: TransportAddress) {
        if address.leadsToThisHost {
            self = .loopback
            return
        }
        var needed: AddressReach = []
        if address.leadsToLink { needed.insert(.linkLocal) }
        if address.leadsToPrivateNetwork { needed.insert(.privateNetworks) }
        if address.isOfThisMachine { needed.insert(.thisMachine) }
        self = needed
    }

    /// Whether a connection to this address may be opened.
    func allows(_ address: TransportAddress) -> Bool {
        !address.leadsToManyHosts && isSuperset(of: AddressReach(neededFor: address))
    }
}
