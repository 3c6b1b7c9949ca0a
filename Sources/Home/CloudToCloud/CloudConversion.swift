import Foundation

/// Converts between our value and the cloud's, in both directions.
struct CloudConversion: Sendable, Decodable, Equatable {
    var factor: Double?
    var scale: [Double]?
    var reciprocal: Double?
    var names: [[JSONValue]]?
    var text: String?
    var decimals: Int?
    var otherwise: JSONValue?

    /// The cloud's value; nil if the conversion does not have one.
    func cloud(_ ours: JSONValue) -> JSONValue? {
        if let names { return names.first { $0.first == ours }?.last ?? otherwise }
        if text != nil {
            guard let data = ours.string.flatMap({ Data(base64Encoded: $0) }) else { return nil }
            return String(data: data, encoding: .utf8).map { .string($0) }
        }
        guard let number = ours.number else { return nil }
        if let factor {
            return .number(Self.rounded(number * factor, decimals ?? Self.decimals(of: factor)))
        }
        if let range = Range(scale) {
            return .number(Self.rounded(range.cloud(number), decimals ?? 0))
        }
        if let reciprocal { return number == 0 ? nil : .number((reciprocal / number).rounded()) }
        return ours
    }

    /// Our value; nil if the cloud's is out of range.
    func ours(_ cloud: JSONValue) -> JSONValue? {
        if let names { return names.first { $0.last == cloud }?.first }
        if text != nil { return cloud.string.map { .string(Data($0.utf8).base64EncodedString()) } }
        guard let number = cloud.number, number.isFinite else { return nil }
        if let factor { return .number((number / factor).rounded()) }
        if let range = Range(scale) { return .number(range.ours(number).rounded()) }
        if let reciprocal { return number == 0 ? nil : .number((reciprocal / number).rounded()) }
        return cloud
    }

    /// Our difference for a difference of the cloud's.
    func difference(_ cloud: JSONValue) -> Double? {
        guard let number = cloud.number, number.isFinite else { return nil }
        if let factor { return (number / factor).rounded() }
        if let range = Range(scale) { return (number * range.width / range.cloudWidth).rounded() }
        return number
    }

    /// Those of our values that the conversion knows; nil if it does not limit them.
    var limits: ClosedRange<Double>? { Range(scale).map { $0.low...max($0.low, $0.high) } }

    /// Two ranges in proportion.
    private struct Range {
        let low, high, cloudLow, cloudHigh: Double
        var width: Double { high - low }
        var cloudWidth: Double { cloudHigh - cloudLow }

        init?(_ scale: [Double]?) {
            guard let scale, scale.count == 4, scale[0] < scale[1], scale[2] != scale[3] else { return nil }
            (low, high, cloudLow, cloudHigh) = (scale[0], scale[1], scale[2], scale[3])
        }

        func cloud(_ value: Double) -> Double {
            cloudLow + (min(max(value, low), high) - low) / width * cloudWidth
        }

        func ours(_ value: Double) -> Double {
            let kept = min(max(value, min(cloudLow, cloudHigh)), max(cloudLow, cloudHigh))
            return low + (kept - cloudLow) / cloudWidth * width
        }
    }

    private static func rounded(_ value: Double, _ decimals: Int) -> Double {
        let power = pow(10, Double(decimals))
        return (value * power).rounded() / power
    }

    /// How many digits a factor has after its point.
    private static func decimals(of factor: Double) -> Int {
        (0...6).first { (factor * pow(10, Double($0))).rounded() == factor * pow(10, Double($0)) } ?? 6
    }
}
