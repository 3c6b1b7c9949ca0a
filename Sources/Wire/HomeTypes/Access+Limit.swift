/// Reduces rights that somebody else has given.
extension Access {
    /// What is left of these rights after their giver has lost some.
    ///
    /// A right that the giver has lost is also lost here, except in the parts of its place where the giver still has
    /// it. A right that the giver did not have came from somebody else, and stays.
    /// - Parameters:
    ///   - before: what the giver had.
    ///   - after: what the giver has now.
    ///   - structureOf: the structure of a device.
    public func limited(
        from before: Access, to after: Access, structureOf: (_ device: String) -> String?
    ) -> Access {
        var left: [Grant] = []
        for grant in grants {
            let object = grant.object(structureOf)
            let lost = grant.included.intersection(before.scopes(for: object)).subtracting(after.scopes(for: object))
            var kept = [lost.isEmpty ? grant : grant.with(grant.included.subtracting(lost))]
            if !lost.isEmpty {
                for part in after.grants where grant.covers(part.object(structureOf)) {
                    var place = part
                    place.scopes = grant.with(part.included.intersection(lost)).scopes
                    kept.append(place)
                }
            }
            for one in kept where !one.scopes.isEmpty && !left.contains(one) { left.append(one) }
        }
        return Access(left)
    }

    /// These rights without some scopes in the grants for one device alone.
    public func without(_ scopes: Set<Caller.Scope>, ofDevice id: String) -> Access {
        Access(
            grants.compactMap { grant in
                guard grant.deviceID == id, !grant.included.isDisjoint(with: scopes) else { return grant }
                let left = grant.with(grant.included.subtracting(scopes))
                return left.scopes.isEmpty ? nil : left
            })
    }
}

extension Access.Grant {
    /// The place that the grant opens.
    func object(_ structureOf: (_ device: String) -> String?) -> Access.Object {
        if let deviceID { return .device(deviceID, structureID: structureOf(deviceID)) }
        return structureID.map { .structure($0) } ?? .home
    }

    /// The same place with other scopes. One that another includes is only named where the grant named it before.
    fileprivate func with(_ included: Set<Caller.Scope>) -> Self {
        var grant = self
        grant.scopes = included
        if included.contains(.media), !scopes.contains(.view) { grant.scopes.remove(.view) }
        return grant
    }
}
