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

    /// Describes a camera by what it reports about itself over ONVIF. An empty text is ignored.
    init(describing deviceID: String, name: String, by source: EventSourceStatus?) {
        func text(_ text: String?, _ count: Int) -> String? {
            text.flatMap { $0.isEmpty ? nil : $0.cut(toBytes: count) }
        }
        self.init(
            describing: deviceID, name: name, vendor: text(source?.manufacturer, 32), product: text(source?.model, 32))
        if let text = text(source?.serialNumber, 32) { serialNumber = text }
        if let text = text(source?.firmwareVersion, 64) { softwareVersionString = text }
        if let text = text(source?.hardwareVersion, 64) { hardwareVersionString = text }
    }
}

extension String {
    /// The longest prefix that takes at most `count` bytes in UTF-8.
    public func cut(toBytes count: Int) -> String {
        guard utf8.count > count else { return self }
        var kept = self
        while kept.utf8.count > count { kept.removeLast() }
        return kept
    }
}
