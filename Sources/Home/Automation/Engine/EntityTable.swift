/// What the engine knows of devices and structures, by their identifiers.
///
/// The states are in one array, and a dictionary has their places, so that a state is changed in place. A dictionary of
/// states would allocate memory for each change, and a home reports many changes that start nothing.
struct EntityTable: Sendable {
    private var places: [String: Int] = [:]
    private var states: [EntityState] = []
    /// The places that removed states left free.
    private var free: [Int] = []

    /// A copy of a state; nil if nothing is known of the entity.
    subscript(id: String) -> EntityState? { places[id].map { states[$0] } }

    /// Changes the state of an entity.
    /// - Returns: what `change` returns; nil if nothing is known of the entity.
    @discardableResult
    mutating func update<Result>(_ id: String, _ change: (inout EntityState) -> Result) -> Result? {
        guard let place = places[id] else { return nil }
        return change(&states[place])
    }

    /// Changes the state of an entity. One that is not known yet gets an empty state first.
    @discardableResult
    mutating func updateOrInsert<Result>(_ id: String, _ change: (inout EntityState) -> Result) -> Result {
        change(&states[places[id] ?? insert(id)])
    }

    private mutating func insert(_ id: String) -> Int {
        if let place = free.popLast() {
            places[id] = place
            return place
        }
        states.append(EntityState())
        places[id] = states.count - 1
        return states.count - 1
    }

    /// Forgets an entity.
    mutating func remove(_ id: String) {
        guard let place = places.removeValue(forKey: id) else { return }
        states[place] = EntityState()
        free.append(place)
    }
}
