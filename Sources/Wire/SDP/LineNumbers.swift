/// The line numbers of a description in the text that it was read from, for messages that name a line.
///
/// Two descriptions that say the same are equal whatever their line numbers, so all values of this type are equal.
struct LineNumbers: Hashable, Sendable {
    /// The number of each line of the session level, from 1.
    var session: [Int] = []
    /// For each media description: the number of its `m=` line, then the numbers of its other lines.
    var media: [[Int]] = []

    static func == (left: LineNumbers, right: LineNumbers) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}

extension SessionDescription {
    /// The number of an `m=` line in the text that was read, from 1; nil for a description made in code.
    public func lineNumber(ofMediaAt index: Int) -> Int? {
        numbers.media.indices.contains(index) ? numbers.media[index].first : nil
    }

    /// The number of the first attribute `name` of a media description, or of the session level where `index` is nil;
    /// nil where the attribute is missing, and for a description made in code.
    public func lineNumber(of name: String, inMediaAt index: Int?) -> Int? {
        let isWanted = { (line: Line) in
            if case .attribute(let attribute) = line { attribute.name.equalsIgnoringCase(name) } else { false }
        }
        guard let index else {
            guard let position = lines.firstIndex(where: isWanted) else { return nil }
            return numbers.session.indices.contains(position) ? numbers.session[position] : nil
        }
        guard media.indices.contains(index), numbers.media.indices.contains(index),
            let position = media[index].lines.firstIndex(where: isWanted)
        else { return nil }
        // The m= line comes first.
        return numbers.media[index].indices.contains(position + 1) ? numbers.media[index][position + 1] : nil
    }

    /// The text of a line, as far as it was read; empty where the line does not exist.
    public func text(ofLine number: Int) -> String {
        if let position = numbers.session.firstIndex(of: number), lines.indices.contains(position) {
            return lines[position].text
        }
        for (index, section) in numbers.media.enumerated() where media.indices.contains(index) {
            guard let position = section.firstIndex(of: number) else { continue }
            if position == 0 { return media[index].mediaLine }
            return media[index].lines.indices.contains(position - 1) ? media[index].lines[position - 1].text : ""
        }
        return ""
    }
}
