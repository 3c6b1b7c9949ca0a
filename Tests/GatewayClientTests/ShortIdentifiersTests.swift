import GatewayClient
import HomeTypes
import Testing

@Suite struct ShortIdentifiersTests {
    private static let ids = ["d1234567890a", "d1234567890b", "d9999999999c"]

    @Test func `identifiers are as short as they may be, and no shorter than eight characters`() {
        #expect(ShortIdentifiers(["d1234567890a", "d9999999999c"])["d1234567890a"] == "d1234567")
        let short = ShortIdentifiers(Self.ids)
        #expect(Self.ids.map { short[$0] } == Self.ids)
        #expect(ShortIdentifiers([String]())["d1234567890a"] == "d1234567")
        #expect(ShortIdentifiers(["d1234567", "d1234567890"])["d1234567"] == "d1234567")
    }

    @Test func `what is shown names the identifier`() throws {
        let short = ShortIdentifiers(Self.ids)
        for id in Self.ids {
            #expect(try ShortIdentifiers.id(meant: short[id], in: Self.ids, kind: "rooms") == id)
        }
        #expect(try ShortIdentifiers.id(meant: "d9999999", in: Self.ids, kind: "rooms") == "d9999999999c")
    }

    @Test func `the whole identifier counts before the beginnings of others`() throws {
        #expect(try ShortIdentifiers.id(meant: "d1234567", in: ["d1234567", "d12345678"], kind: "rooms") == "d1234567")
    }

    @Test(arguments: ["d999999", "", "e9999999", "d9999999999cc"])
    func `a shorter text and another one name nothing`(text: String) throws {
        #expect(try ShortIdentifiers.id(meant: text, in: Self.ids, kind: "rooms") == nil)
    }

    @Test func `a beginning that several have is refused with those`() throws {
        let error = #expect(throws: HomeError.self) {
            try ShortIdentifiers.id(meant: "d12345678", in: Self.ids, kind: "rooms")
        }
        #expect(error?.code == .invalidArgument)
        #expect(
            error?.message == "the ids of 2 rooms begin with d12345678; type more of the one that you mean: "
                + "d1234567890a, d1234567890b")
    }
}
