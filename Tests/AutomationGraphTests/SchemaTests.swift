import AutomationGraph
import HomeTypes
import Testing

@Suite struct SchemaTests {
    private func kind(_ name: String, of trait: any HomeTypes.Trait.Type) -> FieldKind? {
        Schema.attributes(of: trait).first { $0.name == name }?.kind
    }

    @Test func `every trait knows its attributes, and every path to one leads to its name`() {
        func check<Kind: HomeTypes.Trait>(_ trait: Kind.Type) {
            #expect(Schema.attributes(of: trait).map(\.name) == Kind.attributeNames, "\(trait)")
            for field in Schema.attributes(of: trait) {
                #expect(field.kind != .other, "\(trait).\(field.name)")
                #expect(!field.isRequired)
            }
        }
        for trait in Vocabulary.traits { check(trait) }
        #expect(Schema.name(of: \.onOff, in: Matter.OnOffTrait.self) == "onOff")
        #expect(Schema.name(of: \.startUpOnOff, in: Matter.OnOffTrait.self) == "startUpOnOff")
        #expect(Schema.name(of: \.measuredValue, in: Matter.TemperatureMeasurementTrait.self) == "measuredValue")
        #expect(Schema.name(of: \.sunsetTime, in: Google.TimeTrait.self) == "sunsetTime")
    }

    @Test func `every path to a field of an event leads to its name`() {
        typealias Operation = Matter.DoorLockTrait.LockOperationEvent
        #expect(Schema.fieldName(of: \.lockOperationType, in: Operation.self) == "lockOperationType")
        #expect(Schema.fieldName(of: \.operationSource, in: Operation.self) == "operationSource")
        #expect(Schema.fieldName(of: \.userIndex, in: Operation.self) == "userIndex")
        #expect(Schema.fieldName(of: \.credentials, in: Operation.self) == "credentials")
        #expect(Schema.fieldName(of: \.solarTime, in: Google.TimeTrait.ScheduledEvent.self) == "solarTime")
        #expect(Schema.fieldName(of: \.daysOfWeek, in: Google.TimeTrait.ScheduledEvent.self) == "daysOfWeek")
        // What an event has beside its fields has no name.
        #expect(Schema.fieldName(of: \.timestamp, in: Operation.self) == nil)
        #expect(Schema.fieldName(of: \.payload, in: Operation.self) == nil)
    }

    @Test func `fields have the kinds of the data files`() {
        #expect(kind("onOff", of: Matter.OnOffTrait.self) == .bool)
        #expect(kind("measuredValue", of: Matter.TemperatureMeasurementTrait.self) == .signed(16))
        #expect(kind("currentLevel", of: Matter.LevelControlTrait.self) == .unsigned(8))
        #expect(kind("featureMap", of: Matter.OnOffTrait.self) == .bitmap)
        #expect(kind("startUpOnOff", of: Matter.OnOffTrait.self) == .choice(["off", "on", "toggle"]))
        #expect(kind("acceptedCommandList", of: Matter.OnOffTrait.self) == .list(.unsigned(32)))
        #expect(kind("currentDate", of: Google.TimeTrait.self)?.field("year")?.kind == .signed(32))
        #expect(kind("currentTime", of: Google.TimeTrait.self)?.field("hours")?.isRequired == true)
        #expect(kind("currentTime", of: Google.TimeTrait.self)?.field("nanos")?.isRequired == false)
    }

    @Test func `parameters of commands and events say whether they must be there and may be null`() {
        let timed = Schema.fields(of: Matter.OnOffTrait.OnWithTimedOffCommand.self)
        #expect(timed.map(\.name) == ["onOffControl", "onTime", "offWaitTime"])
        #expect(timed.map(\.isRequired) == [false, true, true])
        let update = Schema.fields(of: Matter.OnOffTrait.Update.self)
        #expect(update.map(\.isRequired) == [false, false, false])
        #expect(update.map(\.isNullable) == [false, false, true])
        let scheduled = Schema.fields(of: Google.TimeTrait.ScheduledEvent.self)
        #expect(scheduled.map(\.name) == ["clockTime", "solarTime", "daysOfWeek"])
        #expect(scheduled.allSatisfy { !$0.isRequired })
    }

    @Test func `every command and event can be described`() {
        for command in Vocabulary.commands {
            for field in Schema.fields(of: command) { #expect(field.kind != .other, "\(command).\(field.name)") }
        }
        for event in Vocabulary.events {
            for field in Schema.fields(of: event) { #expect(field.kind != .other, "\(event).\(field.name)") }
        }
    }
}
