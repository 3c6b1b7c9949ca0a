import Foundation
import HomeTypes
import Testing

/// Parameters that a caller may leave out, because the vocabulary gives them a value.
@Suite struct CommandDefaultTests {
    private typealias Level = Matter.LevelControlTrait

    private func read<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }

    @Test func `a parameter that is left out has its default`() throws {
        let short = try read(Level.MoveToLevelCommand.self, #"{"level":100}"#)
        #expect(short == Level.moveToLevel(level: 100, transitionTime: nil, optionsMask: [], optionsOverride: []))
        #expect(short == Level.moveToLevel(level: 100))
        let effect = try read(Matter.IdentifyTrait.TriggerEffectCommand.self, #"{"effectIdentifier":"blink"}"#)
        #expect(effect.effectVariant == .default)
        let off = try read(Matter.OnOffTrait.OffWithEffectCommand.self, #"{"effectIdentifier":"dyingLight"}"#)
        #expect(off.effectVariant == 0)
    }

    @Test func `a parameter that is given counts`() throws {
        let text = #"{"level":100,"transitionTime":20,"optionsMask":1,"optionsOverride":1}"#
        let long = try read(Level.MoveToLevelCommand.self, text)
        #expect(long.transitionTime == 20)
        #expect(long.optionsMask == .executeIfOff)
        let null = try read(Level.MoveToLevelCommand.self, #"{"level":100,"transitionTime":null}"#)
        #expect(null == Level.moveToLevel(level: 100))
        #expect(throws: HomeError.self) {
            try Level.moveToLevel(level: 100, transitionTime: 65_535).validate()
        }
    }

    @Test func `a parameter without a default has to be there`() {
        #expect(throws: DecodingError.self) { try read(Level.MoveToLevelCommand.self, #"{"transitionTime":20}"#) }
        #expect(throws: DecodingError.self) {
            try read(Level.MoveToLevelCommand.self, #"{"level":1,"optionsMask":"x"}"#)
        }
    }
}
