import HomeTypes
import Testing

/// What is left of rights after the one who gave them has lost some.
@Suite struct AccessLimitTests {
    private static let home = Access.Grant([.read, .media])
    private static let house = Access.Grant([.read, .media], structureID: "s1")
    private static let door = Access.Grant([.read, .media], deviceID: "door")

    private static func left(_ given: Access, _ before: [Access.Grant], _ after: [Access.Grant]) -> [Access.Grant] {
        given.limited(
            from: Access(before), to: Access(after), structureOf: { ["door": "s1", "yard": "s2"][$0] }
        ).grants
    }

    @Test func `what the giver still has stays as it was given`() {
        for given in [Self.home, Self.house, Self.door, .init([.view], deviceID: "door")] {
            #expect(Self.left(Access([given]), [Self.home], [Self.home]) == [given])
        }
        // The same right by another grant.
        #expect(Self.left(Access([Self.door]), [Self.home], [Self.house]) == [Self.door])
    }

    @Test func `a scope that is lost is lost, with what it included`() {
        let given = Access([.init([.read, .media], deviceID: "door")])
        #expect(Self.left(given, [Self.home], [.init([.read])]) == [.init([.read], deviceID: "door")])
        #expect(Self.left(given, [Self.home], [.init([.view])]) == [.init([.view], deviceID: "door")])
        #expect(Self.left(given, [Self.home], []).isEmpty)
        let link = Access([.init([.view], deviceID: "door")])
        #expect(Self.left(link, [Self.home], [.init([.read, .control])]).isEmpty)
    }

    @Test func `a place that becomes smaller becomes smaller for the others`() {
        #expect(Self.left(Access([Self.home]), [Self.home], [Self.house]) == [Self.house])
        #expect(Self.left(Access([Self.house]), [Self.home], [Self.door]) == [Self.door])
        let elsewhere = Access([.init([.read], structureID: "s2"), .init([.media], deviceID: "yard")])
        #expect(Self.left(elsewhere, [Self.home], [Self.house]).isEmpty)
        #expect(
            Self.left(Access([Self.home]), [Self.home], [.init([.read]), Self.door])
                == [.init([.read]), .init([.media], deviceID: "door")])
    }

    @Test func `what somebody else gave stays`() {
        let given = Access([Self.door, .init([.control], deviceID: "door"), .init([.read], structureID: "s2")])
        #expect(
            Self.left(given, [Self.house], []) == [
                .init([.control], deviceID: "door"), .init([.read], structureID: "s2"),
            ])
    }

    @Test func `a device that has moved away is lost by the grants for it alone`() {
        let given = Access([Self.door, .init([.media], deviceID: "yard"), .init([.media], structureID: "s1")])
        #expect(
            given.without([.media], ofDevice: "door").grants == [
                .init([.read, .view], deviceID: "door"), .init([.media], deviceID: "yard"),
                .init([.media], structureID: "s1"),
            ])
        #expect(given.without([.media, .view, .read], ofDevice: "door").grants.count == 2)
    }
}
