import HomeTypes

/// Something that has happened, for the engine to act on.
public enum EngineInput: Sendable {
    /// An automation is new or has changed. A new graph takes effect with the next run.
    ///
    /// `kept` is what is known of an automation that was not run for a while; nil for a new one. It counts only if the engine
    /// does not have the automation.
    case define(AutomationDefinition, kept: AutomationState? = nil)
    /// An automation was deleted, or is not run for a while. A run of it ends as stopped.
    case remove(automationID: String)
    /// The current state of a device. The first known value of an attribute starts nothing.
    case device(ObservedDevice)
    /// A device has left the home.
    case deviceRemoved(id: String)
    /// The current state of a structure.
    case structure(ObservedStructure)
    /// A device or structure has sent an event.
    case event(ObservedEvent)
    /// Somebody runs an automation by hand.
    case execute(automationID: String, principal: String)
    /// Somebody stops the run of an automation.
    case stop(automationID: String, principal: String)
    /// Somebody releases an automation that was paused.
    case release(automationID: String, principal: String)
    /// A command has ended.
    case commandEnded(runID: String, commandID: Int, CommandOutcome)
    /// Time has passed.
    case clock
}

/// What the engine knows of a device.
public struct ObservedDevice: Sendable {
    /// One part of it.
    public struct Part: Sendable {
        /// The number of the endpoint.
        public var endpoint: UInt16
        /// The names of its types, without those that these include.
        public var types: [String]
        /// Its traits with their state.
        public var traits: TraitCollection

        /// Describes a part.
        public init(endpoint: UInt16, types: [String], traits: TraitCollection) {
            self.endpoint = endpoint
            self.types = types
            self.traits = traits
        }
    }

    /// The identifier.
    public var id: String
    /// What people call it.
    public var name: String
    /// Whether commands reach it.
    public var isOnline: Bool
    /// Its parts.
    public var parts: [Part]

    /// Describes a device.
    public init(id: String, name: String, isOnline: Bool = true, parts: [Part]) {
        self.id = id
        self.name = name
        self.isOnline = isOnline
        self.parts = parts
    }
}

/// What the engine knows of a structure.
public struct ObservedStructure: Sendable {
    /// The identifier.
    public var id: String
    /// Its traits with their state, presence among them. The trait `Time` is computed when it is read.
    public var traits: TraitCollection
    /// Its wall clock and its sun.
    public var place: SchedulePlace

    /// Describes a structure.
    public init(id: String, traits: TraitCollection, place: SchedulePlace) {
        self.id = id
        self.traits = traits
        self.place = place
    }
}

/// An event that starters may wait for.
public struct ObservedEvent: Sendable, Hashable {
    /// The device or structure.
    public var entityID: String
    /// The number of the endpoint; nil for a structure.
    public var endpoint: UInt16?
    /// The name of the trait.
    public var trait: String
    /// The name of the event.
    public var event: String
    /// Its fields.
    public var fields: [String: JSONObject.Value]

    /// Describes an event.
    public init(
        entityID: String, endpoint: UInt16? = nil, trait: String, event: String,
        fields: [String: JSONObject.Value] = [:]
    ) {
        self.entityID = entityID
        self.endpoint = endpoint
        self.trait = trait
        self.event = event
        self.fields = fields
    }
}

/// How a command ended.
public enum CommandOutcome: Sendable, Hashable, Codable {
    case succeeded
    /// The device or the gateway refused it: the code of ``HomeError`` and its message.
    case failed(code: String, message: String)
    /// The owner of the automation no longer has the right.
    case notAuthorised(message: String)
    /// The gateway ended before it knew the outcome. The command is not repeated.
    case unknown
}
