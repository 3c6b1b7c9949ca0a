import Foundation
import HomeTypes
import Testing

/// The whole vocabulary, as the data files declare it.
@Suite struct VocabularyTests {
    @Test func `every trait is found by its name and its identifier`() {
        for trait in Vocabulary.traits + Vocabulary.detectionTraits {
            #expect(Vocabulary.trait(named: trait.name) == trait)
            #expect(Vocabulary.trait(named: trait.identifier) == trait)
        }
        for type in Vocabulary.deviceTypes {
            #expect(Vocabulary.deviceType(named: type.name) == type)
            #expect(Vocabulary.deviceType(named: type.identifier) == type)
        }
        #expect(Vocabulary.trait(named: "Nothing") == nil)
        #expect(Vocabulary.deviceType(named: "Nothing") == nil)
    }

    @Test func `every command and event is found in its trait`() {
        for command in Vocabulary.commands {
            #expect(Vocabulary.command(named: command.name, of: command.trait) == command)
            #expect(Vocabulary.command(named: command.identifier, of: command.trait) == command)
        }
        for event in Vocabulary.events {
            #expect(Vocabulary.event(named: event.name, of: event.trait) == event)
            #expect(event.identifier.hasPrefix(event.trait.identifier + ".events."))
        }
        let identifiers = Vocabulary.commands.map { $0.identifier } + Vocabulary.events.map { $0.identifier }
        #expect(Set(identifiers).count == identifiers.count)
    }

    @Test func `identifiers have four digits`() {
        #expect(
            Google.WebRtcLiveViewTrait.StopLiveViewCommand.identifier
                == "home.matter.6006.clusters.fc51.commands.0002")
        #expect(
            Google.DoorbellPressTrait.DoorbellPressedEvent.identifier == "home.matter.6006.clusters.fc53.events.0000")
    }

    @Test func `every trait without attributes is the empty object`() throws {
        func roundTrip<Kind: HomeTypes.Trait>(_ type: Kind.Type) throws {
            let trait = Kind(attributes: .init())
            let data = try JSONEncoder().encode(trait)
            #expect(String(decoding: data, as: UTF8.self) == "{}", "\(type)")
            #expect(try JSONDecoder().decode(type, from: data) == trait)
            // A newer gateway sends what this version does not know.
            let newer = Data(#"{"anAttributeOfTomorrow":[1,{"x":null}]}"#.utf8)
            #expect(try JSONDecoder().decode(type, from: newer) == trait)
        }
        for trait in Vocabulary.traits { try roundTrip(trait) }
    }

    @Test func `every trait reads back what a device can report`() throws {
        func roundTrip<Kind: HomeTypes.Trait>(_ type: Kind.Type) throws {
            var generator = SampleJSON()
            for round in 0..<20 {
                let json = try generator.object(of: Kind.Attributes.self, nullEvery: round % 4)
                let trait = try JSONDecoder().decode(type, from: json)
                let written = try JSONEncoder().encode(trait)
                let again = try JSONDecoder().decode(type, from: written)
                #expect(again == trait, "\(type): \(String(decoding: json, as: UTF8.self))")
                // Each key of the report is supported, and is written again.
                #expect(try Self.keys(written) == Self.keys(json), "\(type)")
                // A report merges into nothing as itself, and nothing changes it.
                var attributes = Kind.Attributes()
                attributes.merge(trait.attributes)
                #expect(attributes == trait.attributes)
                attributes.merge(Kind.Attributes())
                #expect(attributes == trait.attributes)
                let collection = TraitCollection([trait])
                let data = try JSONEncoder().encode(collection)
                #expect(try JSONDecoder().decode(TraitCollection.self, from: data) == collection)
            }
        }
        for trait in Vocabulary.traits { try roundTrip(trait) }
    }

    @Test func `every command and event reads back`() throws {
        func roundTrip<Kind: VocabularyRecord>(_ type: Kind.Type) throws {
            var generator = SampleJSON()
            for round in 0..<20 {
                let value = try JSONDecoder().decode(type, from: try generator.object(of: type, nullEvery: round % 4))
                let data = try JSONEncoder().encode(value)
                #expect(try JSONDecoder().decode(type, from: data) == value, "\(type)")
            }
        }
        func responseRoundTrip<Sent: Command>(_ type: Sent.Type) throws { try roundTrip(Sent.Response.self) }
        for command in Vocabulary.commands {
            try roundTrip(command)
            try responseRoundTrip(command)
        }
        for event in Vocabulary.events { try roundTrip(event) }
    }

    @Test func `no enum fails to decode`() throws {
        var enums: [any VocabularyEnum.Type] = [ConnectivityState.self, LocalityType.self, DetectionPhase.self]
        for trait in Vocabulary.traits { enums += try SampleJSON.enums(of: trait) }
        #expect(enums.count > 10)
        func check<Kind: VocabularyEnum>(_ type: Kind.Type) throws {
            for text in ["\"aValueOfTomorrow\"", "\"\"", "123456789", "-1", "1.5"] {
                #expect(try JSONDecoder().decode(type, from: Data(text.utf8)) == .unrecognized, "\(type) \(text)")
            }
            for value in Kind.allCases {
                let name = try JSONEncoder().encode(value)
                #expect(try JSONDecoder().decode(type, from: name) == value)
                #expect(try JSONDecoder().decode(type, from: Data("\(value.number)".utf8)) == value)
            }
            #expect(Set(Kind.allCases.map(\.number)).count == Kind.allCases.count)
        }
        for type in enums { try check(type) }
        #expect(Google.WebRtcLiveViewTrait.QualityHint.unrecognized == .unrecognized_)
        #expect(!Google.WebRtcLiveViewTrait.QualityHint.allCases.contains(.unrecognized_))
    }

    @Test func `supertypes are complete and have no circles`() {
        for type in Vocabulary.deviceTypes {
            let isItself = type.isKind(of: type)
            #expect(isItself)
            for supertype in type.supertypes {
                let isSupertype = type.isKind(of: supertype)
                let isCircle = supertype.isKind(of: type)
                #expect(isSupertype && !isCircle, "\(type) and \(supertype)")
                for further in supertype.supertypes {
                    let isTransitive = type.isKind(of: further)
                    #expect(isTransitive, "\(type) and \(further)")
                }
                for trait in supertype.requiredTraits {
                    let names = type.requiredTraits.map { $0.name }
                    #expect(names.contains(trait.name), "\(type) lacks \(trait) of \(supertype)")
                }
            }
        }
    }

    private static func keys(_ data: Data) throws -> Set<String> {
        Set(try #require(JSONSerialization.jsonObject(with: data) as? [String: Any]).keys)
    }
}
