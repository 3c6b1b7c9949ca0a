/// An expression of a template.
indirect enum TemplateExpression: Hashable, Sendable {
    case literal(JSONValue)
    case name(String)
    /// `base.name` or `base['name']` or `base[0]`.
    case member(TemplateExpression, TemplateExpression)
    case list([TemplateExpression])
    case dictionary([Entry])
    case filter(TemplateExpression, String, [TemplateExpression])
    /// `base.method(…)`.
    case method(TemplateExpression, String, [TemplateExpression])
    /// `float(x)` and its like.
    case call(String, [TemplateExpression])
    case negated(TemplateExpression)
    case not(TemplateExpression)
    case binary(TemplateExpression, String, TemplateExpression)
    /// `x is defined` and its like.
    case test(TemplateExpression, String, isNegated: Bool)
    /// `a if condition else b`.
    case conditional(TemplateExpression, condition: TemplateExpression, otherwise: TemplateExpression)

    /// A key and a value of a dictionary.
    struct Entry: Hashable, Sendable {
        let key: TemplateExpression
        let value: TemplateExpression
    }
}

/// A part of a template.
indirect enum TemplatePart: Hashable, Sendable {
    case text(String)
    case output(TemplateExpression)
    case assignment(String, TemplateExpression)
    /// The first branch whose condition is true. A branch without a condition is `else`.
    case conditional([Branch])

    /// A condition and what it guards.
    struct Branch: Hashable, Sendable {
        let condition: TemplateExpression?
        let parts: [TemplatePart]
    }
}
