import HomeTypes

extension Matter.BasicInformationTrait.Attributes {
    /// Describes a device within the lengths that Matter allows (Matter core specification, section 11.1.5): 32 bytes
    /// for each text. Longer texts are cut, because a device may report any.
    public init(describing deviceID: String, name: String, vendor: String?, product: String?) {
        self.init(
            vendorName: vendor?.cut(toBytes: 32), productName: product?.cut(toBytes: 32),
            nodeLabel: name.cut(toBytes: 32),
            // A minted id is one character longer than the limit, and its first one is the same for all devices.
            uniqueID: String(deviceID.suffix(32)))
    }
}

extension String {
    /// The longest beginning that takes at most `count` bytes in UTF-8.
    public func cut(toBytes count: Int) -> String {
        guard utf8.count > count else { return self }
        var kept = self
        while kept.utf8.count > count { kept.removeLast() }
        return kept
    }
}
