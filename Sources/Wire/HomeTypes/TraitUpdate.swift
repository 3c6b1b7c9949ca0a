/// Values to write to the attributes of a trait. The other attributes stay as they are.
public protocol TraitUpdate: VocabularyRecord {
    /// The trait.
    static var trait: any Trait.Type { get }
}
